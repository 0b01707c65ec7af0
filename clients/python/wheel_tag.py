"""Tags a wheel with the program inside for its platform. Without the program the wheel is for all platforms."""

import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelTag(BuildHookInterface):
    def initialize(self, version, build_data):
        if (Path(self.root) / "pushgateway" / "bin" / "pushcli").exists():
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data |= {"pure_python": False, "tag": f"py3-none-{platform}"}
