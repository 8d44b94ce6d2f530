"""How compiled functions get what they are given: arguments are used as they came, and named tuples are handed on by reference.

numba by itself makes a variable of every argument, counts one more reference of each array in it, and takes a named tuple apart at each call, so that a network's thirty arrays are
two hundred arguments of every function that is told about the network. Whoever calls holds what it hands over until the call returns, and named tuples never change, so none of that is needed. Machine code that is
called from Python is the same in what it computes; it is made in half of the time.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, datamodel, ir, lowering, types
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel.registry import default_manager
from numba.core.typed_passes import NativeLowering

OURS = "likewise."


class LeanLower(lowering.Lower):
    """numba's lowering, but for arguments."""

    def lower_inst(self, inst: Any) -> None:
        if isinstance(inst, ir.Assign) and isinstance(inst.value, ir.Arg) and self._stays(inst):
            name, value = inst.target.name, inst.value
            given = self.fnargs[value.index]
            self._given[name] = self.context.cast(
                self.builder, given, self.typeof("arg." + value.name), self.typeof(name)
            )
            return
        super().lower_inst(inst)

    def loadvar(self, name: str) -> Any:
        return self._given[name] if name in self._given else super().loadvar(name)

    def delvar(self, name: str) -> None:
        if name not in self._given:
            super().delvar(name)

    def lower_normal_function(self, fndesc: Any) -> None:
        self._given: dict[str, Any] = {}  # arguments that are what they came as, to the end
        self._assigned = Counter(
            inst.target.name for block in self.blocks.values() for inst in block.find_insts(ir.Assign)
        )
        super().lower_normal_function(fndesc)

    def _stays(self, inst: Any) -> bool:
        """Whether an argument's variable never becomes anything else."""
        omitted = isinstance(self.typeof("arg." + inst.value.name), types.Omitted)
        return self._assigned[inst.target.name] == 1 and not omitted


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanLowering(NativeLowering):
    """The pass that has it done."""

    _name = "likewise_lean_lowering"

    @property
    def lowering_class(self) -> type[LeanLower]:
        return LeanLower


class RecordModel(datamodel.models.TupleModel):
    """A named tuple, handed on as a pointer to what it consists of."""

    def get_argument_type(self) -> Any:
        return self.get_value_type().as_pointer()

    def as_argument(self, builder: Any, value: Any) -> Any:
        if isinstance(value, llvm.instructions.LoadInstr) and isinstance(value.operands[0], llvm.Argument):
            return value.operands[0]  # it was handed over like that
        place = cgutils.alloca_once(builder, value.type)
        builder.store(value, place)
        return place

    def from_argument(self, builder: Any, value: Any) -> Any:
        return builder.load(value)


def _model_of(manager: Any, kind: Any) -> Any:
    ours = kind.instance_class.__module__.startswith(OURS)
    return (RecordModel if ours else datamodel.models.TupleModel)(manager, kind)


default_manager.register(types.NamedTuple, _model_of)
