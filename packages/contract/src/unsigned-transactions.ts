/** What the owner of a wallet signs: transactions to send, or a request for the venue's relayer. The service holds no key that could. */
import { type Static, Type } from 'typebox';
import { Iso, Nullable } from './fields.ts';
import { words } from './order-words.ts';

export const UnsignedTransaction = Type.Object({
  from: Type.String({ description: 'the wallet itself or its owner: who sends it, and pays the network' }),
  to: Type.String(),
  data: Type.String(),
  value: Type.String({ description: 'always 0' }),
  chainId: Type.Integer(),
  description: Type.String(),
});

export const RelayRecord = Type.Object(
  {
    type: words(['PROXY', 'SAFE', 'WALLET'], 'by the kind of the wallet'),
    nonce: Type.String(),
    relay: Nullable(Type.String({ description: 'PROXY: the only account that may deliver it' })),
    deadline: {
      ...Iso,
      description:
        'a whole second: the desk does not forward it later. For WALLET its epoch seconds are part of what is signed',
    },
    chainId: Type.Integer(),
    digest: Type.String({ description: '32 bytes: what the key of the owner signs, as it is' }),
    body: Type.Record(Type.String(), Type.Unknown(), {
      description: 'what the relayer gets, without the signature: every field of it is in the digest',
    }),
  },
  {
    description:
      'live venues with a relayer, with status unsigned: compare it with your own (verifyRelay of the SDK), sign the digest, and send the signature with POST /markets/relay. No network price is paid',
  },
);

export type RelayRecord = Static<typeof RelayRecord>;
export type UnsignedTransaction = Static<typeof UnsignedTransaction>;
