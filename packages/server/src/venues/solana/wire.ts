/** The parts of a node's answers that the desk reads. Additional fields differ between versions and are accepted. */
import { type Static, type TSchema, Type } from 'typebox';
import { checkedBy } from '../../platform/outbound/json.ts';

/** An unsigned 64-bit number: beyond 2^53 it arrives as a bigint. */
const U64 = Type.Union([Type.Integer({ minimum: 0 }), Type.BigInt({ minimum: 0n })]);

const at = <T extends TSchema>(value: T) => Type.Object({ context: Type.Object({ slot: U64 }), value });

const Account = Type.Object({
  lamports: U64,
  owner: Type.String(),
  data: Type.Tuple([Type.String(), Type.Literal('base64')]),
});
const MaybeAccount = Type.Union([Type.Null(), Account]);

export type WireAccount = Static<typeof Account>;

const TokenBalance = Type.Object({
  accountIndex: Type.Integer({ minimum: 0 }),
  uiTokenAmount: Type.Object({ amount: Type.String({ pattern: '^\\d{1,20}$' }) }),
});

const optional = <T extends TSchema>(item: T) => Type.Optional(Type.Union([Type.Null(), Type.Array(item)]));

const Simulated = Type.Object({
  err: Type.Unknown(),
  accounts: optional(MaybeAccount),
  preBalances: optional(U64),
  preTokenBalances: optional(TokenBalance),
});

export type WireSimulation = Static<typeof Simulated>;

const Status = Type.Union([
  Type.Null(),
  Type.Object({
    slot: U64,
    confirmations: Type.Union([Type.Null(), U64]),
    err: Type.Unknown(),
    confirmationStatus: Type.Optional(Type.Union([Type.Null(), Type.String()])),
  }),
]);

export type WireStatus = Static<typeof Status>;

export const CHECKS = {
  number: checkedBy(U64),
  text: checkedBy(Type.String()),
  balance: checkedBy(at(U64)),
  account: checkedBy(at(MaybeAccount)),
  accounts: checkedBy(at(Type.Array(MaybeAccount))),
  owned: checkedBy(at(Type.Array(Type.Object({ pubkey: Type.String(), account: Account })))),
  statuses: checkedBy(at(Type.Array(Status))),
  simulation: checkedBy(at(Simulated)),
  samples: checkedBy(
    Type.Array(Type.Object({ numSlots: U64, samplePeriodSecs: Type.Integer({ minimum: 1 }) })),
  ),
  blockhash: checkedBy(at(Type.Object({ blockhash: Type.String(), lastValidBlockHeight: U64 }))),
} as const;
