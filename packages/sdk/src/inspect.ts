/**
 * Text that `console.log` and `util.inspect` show instead of an object's insides. Only Node uses this
 * symbol.
 */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom') as never;
