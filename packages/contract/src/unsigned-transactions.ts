/** Transactions that the owner of a wallet signs and sends: the service holds no key that could. */
import { type Static, Type } from 'typebox';

export const UnsignedTransaction = Type.Object({
  from: Type.String({ description: 'the wallet itself or its owner: who sends it, and pays the network' }),
  to: Type.String(),
  data: Type.String(),
  value: Type.String({ description: 'always 0' }),
  chainId: Type.Integer(),
  description: Type.String(),
});

export type UnsignedTransaction = Static<typeof UnsignedTransaction>;
