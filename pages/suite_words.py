"""What suites prove and what their options mean, for translation: suites are pure and know no languages.

Templates translate the texts of a suite as they print them; this marks them to be extracted. A test holds the two together.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

PROVES = (
    _("The CUDA runtime in a container sees a card and reads its properties; no kernel is run."),
    _("A CUDA kernel runs on the card in a Windows container and its answer is right."),
    _("A card sustains arithmetic work, and how fast; no result is checked."),
    _("A container gets an NVIDIA card, runs a kernel on it and reads back the right result."),
    _("NVIDIA's diagnostic of the chosen level finds nothing wrong with the cards of the run."),
    _("A container on the node sees DirectX adapters; nothing is run on them."),
    _("DirectML gives the right answer in a container; the adapter is not named, so no GPU is proven."),
    _("The video encoder of an adapter encodes a clip to the end."),
    _("A container on the node sees an OpenCL device of type GPU; nothing is run on it."),
    _("A container on the node sees a hardware Vulkan device; nothing is run on it."),
    _("The cards of one node exchange data, the sums are right, and how fast."),
    _("The driver answers from inside a container and names the card; nothing is run on it."),
    _("DirectX inference runs on a hardware adapter of the node, and how fast."),
)
OPTION_HELP = (
    _("Container image; empty: NVIDIA's sample on Linux, TensorWorks' on Windows."),
    _("Card memory to ask for where memory is what is shared (gpushare, HAMi), in MiB."),
    _("RuntimeClass; auto takes nvidia where the cluster has it, none sets none."),
    _("User id for clusters that admit no root; 0 leaves it to the image."),
    _("Extended resource to ask for; empty: the best that the node has."),
    _("Seconds until the Job is ended, waiting and image pull included."),
    _("Main memory to ask for."),
    _("Secret with which the image is pulled."),
    _("Container image."),
    _("Number of bodies."),
    _("Precision of the arithmetic."),
    _("1: software, seconds. 2: with memory and PCIe, minutes. 3: with stress, a quarter of an hour."),
    _("How many cards are tested."),
    _("Encoder: NVIDIA nvenc, AMD amf, Intel qsv; auto takes the first that there is."),
    _("Container image. It must have all_reduce_perf on its path; the default has about 20 GB."),
    _("How many cards take part."),
    _("Largest transfer."),
    _("Container image; empty: NVIDIA's CUDA base on Linux, Server Core on Windows."),
    _("An image with WinMLRunner.exe; empty: the sample image of Alibaba Cloud (15 GB) from the region's registry."),
    _("Alibaba Cloud region of the registry."),
    _("Path of the model in an image of your own."),
    _("Evaluations, in an image of your own (the sample image makes 100)."),
)
