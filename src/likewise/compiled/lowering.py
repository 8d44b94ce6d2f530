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
    """numba's lowering, but for arguments and what named tuples among them consist of: values that are there from the beginning to the end."""

    def lower_inst(self, inst: Any) -> None:
        given = self._whatever_stays(inst) if isinstance(inst, ir.Assign) else None
        if given is None:
            super().lower_inst(inst)
        else:
            self._given[inst.target.name] = given

    def loadvar(self, name: str) -> Any:
        return self._given[name] if name in self._given else super().loadvar(name)

    def delvar(self, name: str) -> None:
        if name not in self._given:
            super().delvar(name)

    def lower_normal_function(self, fndesc: Any) -> None:
        self._given: dict[str, Any] = {}  # by variable
        self._fields: dict[tuple[str, str], Any] = {}  # by argument and field
        self._assigned = Counter(
            inst.target.name for block in self.blocks.values() for inst in block.find_insts(ir.Assign)
        )
        super().lower_normal_function(fndesc)

    def _whatever_stays(self, inst: Any) -> Any:
        """The value of a variable that is an argument, or a field of one, and never becomes anything else; None of others."""
        name, value = inst.target.name, inst.value
        if self._assigned[name] != 1:
            return None
        if isinstance(value, ir.Arg):
            came_as = self.typeof("arg." + value.name)
            if isinstance(came_as, types.Omitted):
                return None
            return self.context.cast(self.builder, self.fnargs[value.index], came_as, self.typeof(name))
        if isinstance(value, ir.Expr) and value.op == "getattr" and value.value.name in self._given:
            return self._field(value.value.name, value.attr, self.typeof(name))
        return None

    def _field(self, record: str, field: str, wanted: Any) -> Any:
        kind = self.typeof(record)
        if not _is_ours(kind) or field not in kind.fields:
            return None
        at = kind.fields.index(field)
        if kind.types[at] != wanted:
            return None
        if (record, field) not in self._fields:
            with self.builder.goto_entry_block():
                self._fields[record, field] = self.builder.extract_value(self._given[record], at)
        return self._fields[record, field]


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
    return (RecordModel if _is_ours(kind) else datamodel.models.TupleModel)(manager, kind)


def _is_ours(kind: Any) -> bool:
    return isinstance(kind, types.NamedTuple) and kind.instance_class.__module__.startswith(OURS)


default_manager.register(types.NamedTuple, _model_of)
