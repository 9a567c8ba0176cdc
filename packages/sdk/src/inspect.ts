/**
 * What `console.log` and `util.inspect` show instead of an object's insides. Node looks this symbol up; elsewhere it
 * is never called.
 */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom') as never;
