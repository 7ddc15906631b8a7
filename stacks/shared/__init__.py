"""What several stacks read the same way and is not machinery: DirectX plugins, instance types of clouds."""
