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

from likewise.compiled import indexing

OURS = "likewise."


class LeanLower(lowering.Lower):
    """numba's lowering, but for what most of our functions consist of: arguments and what named tuples among them consist of, which are there from the beginning to the end,
    variables that hold no array, elements and rows of arrays, and loops over ranges."""

    def lower_inst(self, inst: Any) -> None:
        given = self._whatever_stays(inst) if isinstance(inst, ir.Assign) else None
        if given is None:
            super().lower_inst(inst)
        else:
            self._given[inst.target.name] = given

    def loadvar(self, name: str) -> Any:
        return self._given[name] if name in self._given else super().loadvar(name)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        if name in self._singly_assigned_vars or self._holds_arrays(name):
            super().storevar(value, name, argidx)
            return
        self._alloca_var(name, self.typeof(name))
        self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        if name in self._given:
            return
        if self._holds_arrays(name):
            super().delvar(name)
        elif (
            name not in self._blk_local_varmap
        ):  # left before it is come by: kept on the stack, as numba does
            self._singly_assigned_vars.discard(name)
            self._alloca_var(name, self.typeof(name))

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """A place on the stack. numba asks LLVM how large each is, by a module of its own, and tells debuggers."""
        if self.flags.debuginfo:
            return super().alloca_lltype(name, lltype, datamodel)
        return cgutils.alloca_once(self.builder, lltype, name=name, zfill=False)

    def lower_normal_function(self, fndesc: Any) -> None:
        self._given: dict[str, Any] = {}  # by variable
        self._fields: dict[tuple[str, str], Any] = {}  # by argument and field
        self._holding: dict[Any, bool] = {}  # by type: whether there are arrays in it
        assigned = [inst for block in self.blocks.values() for inst in block.find_insts(ir.Assign)]
        self._assigned = Counter(inst.target.name for inst in assigned)
        self._values = {
            inst.target.name: inst.value for inst in assigned
        }  # of variables that are assigned once
        super().lower_normal_function(fndesc)

    def _holds_arrays(self, name: str) -> bool:
        """Whether references are counted of what a variable holds."""
        kind = self.typeof(name)
        if kind not in self._holding:
            self._holding[kind] = self.context.data_model_manager[kind].contains_nrt_meminfo()
        return self._holding[kind]

    # -- arguments --

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

    # -- arrays and loops --

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        kind, (kinds, values) = self.typeof(value.name), self._index(value, index, signature)
        if kinds is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        field = self._fields_of(value.name)
        pointer = indexing.pointer_to(self.context, self.builder, kind, field, kinds, values)
        result = signature.return_type
        if isinstance(result, types.Array):
            found = indexing.row(self.context, self.builder, kind, field, pointer, result)
        else:
            found = indexing.element(self.context, self.builder, kind, pointer)
        return self.context.cast(self.builder, found, result, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        kind, (kinds, values) = self.typeof(target_var.name), self._index(target_var, index_var, signature)
        if kinds is None or len(kinds) < kind.ndim:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        field = self._fields_of(target_var.name)
        pointer = indexing.pointer_to(self.context, self.builder, kind, field, kinds, values)
        value = self.context.cast(
            self.builder, self.loadvar(value_var.name), self.typeof(value_var.name), signature.args[2]
        )
        value = self.context.cast(self.builder, value, signature.args[2], kind.dtype)
        indexing.put(self.context, self.builder, kind, value, pointer)
        return None

    def _index(self, array: Any, index: Any, signature: Any) -> tuple[Any, Any]:
        """Types and values of an index of plain integers; None of another one."""
        if (
            signature is None
            or self.context.enable_boundscheck
            or signature.args[0] != self.typeof(array.name)
        ):
            return None, None
        kinds = indexing.index_types(signature.args[0], signature.args[1])
        if kinds is None:
            return None, None
        given = self.context.cast(
            self.builder, self.loadvar(index.name), self.typeof(index.name), signature.args[1]
        )
        return kinds, indexing.index_values(self.builder, signature.args[1], given)

    def _fields_of(self, name: str) -> indexing.Field:
        """What reads the fields of an array."""
        value = self.loadvar(name)
        return lambda *position: self.builder.extract_value(value, position)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        if expr.op in ("getiter", "iternext", "pair_first", "pair_second"):
            kind, value = self.typeof(expr.value.name), self.loadvar(expr.value.name)
            if expr.op == "getiter" and self._goes_by_one(expr.value.name, kind, resty):
                ends = (self.builder.extract_value(value, at) for at in range(2))
                return indexing.iterator_by_one(self.context, self.builder, resty, *ends)
            if expr.op == "iternext" and isinstance(kind, types.RangeIteratorType):
                return indexing.next_of(self.context, self.builder, resty, value)
            if isinstance(kind, types.Pair) and not self._holds_arrays(expr.value.name):
                return self.builder.extract_value(value, 0 if expr.op == "pair_first" else 1)
        return super().lower_expr(resty, expr)

    def _goes_by_one(self, name: str, kind: Any, iterator: Any) -> bool:
        """Whether something is a range that was called for without a step."""
        call = self._values.get(name)
        if not isinstance(kind, types.RangeType) or kind.iterator_type != iterator:
            return False
        if self._assigned[name] != 1 or not (isinstance(call, ir.Expr) and call.op == "call"):
            return False
        plain = not call.kws and not call.vararg and len(call.args) <= 2
        return plain and getattr(self.typeof(call.func.name), "typing_key", None) is range


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
