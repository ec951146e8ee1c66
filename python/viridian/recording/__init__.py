"""What `viridian record --torch` puts into other programs, installed from tools/on_device."""
