"""What several suites share and the engine need not know: texts of CUDA errors, images and options of one publisher's examples."""
