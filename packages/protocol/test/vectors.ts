/** Every vector of the wire reference 5.5, as data. */

import type { OrderFields, PolymarketOrderFields } from '@bellwether/protocol';
import { type Address, asAddress, hexToBytes } from '@bellwether/protocol';

/** The well-known first account of Hardhat's test mnemonic. It never holds anything of value. */
export const TEST_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
export const TEST_EOA = asAddress('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266');

export const WALLETS: readonly { eoa: string; beacon: string; uups: string; proxy: string; safe: string }[] =
  [
    {
      eoa: '0x0000000000000000000000000000000000000001',
      beacon: '0x94bF330955A0b957662fEaF878dE77bf25f76cD9',
      uups: '0x57ffBc34De23124fAeb8387fcd689d314E57aCcD',
      proxy: '0x7754536ecd85c00b2E0CF9c1aA679340D8550756',
      safe: '0x766b6851A199BF91Ae3fa13B1cfaC5187355118f',
    },
    {
      eoa: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      beacon: '0xBc0fF067b7740Eff76C1ca93c875Ba6B890d6B50',
      uups: '0xdf8b9E8f9AB23f261F6e1B171B7454ae6E46Ba76',
      proxy: '0x365f0CA36Ae1f641E02fE3B7743673da42A13A70',
      safe: '0xd93B25cb943D14d0d34FBaF01Fc93a0f8b5F6E47',
    },
    {
      eoa: '0x09c88f1d3cdd98c356a21434cd4af40cce795314',
      beacon: '0xAd031402De8c9beb499F836934C1876a6eb4e4D0',
      uups: '0x496f46AA7500563E7f577D12CB8193421F2963C7',
      proxy: '0x9858C51363F50bf63E8bF7121047C6b148F10D42',
      safe: '0x5F4a3A844C935B95Fef19827032D6aC6d20716cF',
    },
  ];

const owned = WALLETS[1]!;
export const TEST_PROXY = asAddress(owned.proxy);
export const TEST_SAFE = asAddress(owned.safe);
export const TEST_DEPOSIT = asAddress(owned.beacon);

export const L1_VECTORS = [
  {
    chainId: 80002,
    timestamp: '10000000',
    nonce: 23n,
    signature:
      '0xf62319a987514da40e57e2f4d7529f7bac38f0355bd88bb5adbb3768d80de6c1682518e0af677d5260366425f4361e7b70c25ae232aff0ab2331e2b164a1aedc1b',
  },
  {
    chainId: 137,
    timestamp: '1700000000',
    nonce: 0n,
    signature:
      '0x659ed4b28ae28e0f038fdf0023c00863c9559caacb9ebc83f44eea87059a099a36f1e1dee110e7faa1c4f65d17489b2da1333ebef78bbe2116d81207b975052d1c',
  },
] as const;

export const L2_VECTOR = {
  secret: `${'A'.repeat(43)}=`,
  timestamp: '1000000',
  method: 'test-sign',
  path: '/orders',
  body: '{"hash": "0x123"}',
  signature: 'ZwAdJKvoYRlEKDkNMwd5BuwNNtg93kNaR_oU2HrfVvc=',
} as const;

const ZERO = '0x0000000000000000000000000000000000000000' as Address;
const common = {
  salt: 479249096354n,
  maker: TEST_EOA,
  signer: TEST_EOA,
  tokenId: 1234n,
  makerAmount: 100000000n,
  takerAmount: 50000000n,
  side: 0,
  signatureType: 0,
} as const;

export const ORDER: OrderFields = { ...common, taker: ZERO, expiration: 0n, nonce: 0n, feeRateBps: 0n };
const POLYMARKET_ORDER: PolymarketOrderFields = {
  ...common,
  timestamp: 1780449126930n,
  metadata: new Uint8Array(32),
  builder: new Uint8Array(32),
};

export const V3_SEPARATOR = '0x466c63910185bbd55e8679264200c4e0abdcbb0c6264eb3d41d13326022e095b';
export const SEPARATORS = {
  v1: '0x1a573e3617c78403b5b4b892827992f027b03d4eaf570048b8ee8cdd84d151be',
  v1NegRisk: '0x82cb6aa85babb812f4b521a12b10f0cbc68d2b44be7bc02c047004f544adb49f',
  v2: '0x3264e159346253e26a64e00b69032db0e7d32f94628de3e6eecb50304d7af3d2',
  v2NegRisk: '0x9b858f53327b0bd13af8ec14cfb35234fb9eb7b0504d1a4e61f433840d30e81a',
} as const;

export type DomainName = keyof typeof SEPARATORS | 'v3';

/** The venue's own version 2 and 3. */
export const POLYMARKET_VECTORS: readonly {
  name: string;
  domain: DomainName;
  fields: PolymarketOrderFields;
  hash: string;
  signature: string;
}[] = [
  {
    name: 'V2',
    domain: 'v2',
    fields: POLYMARKET_ORDER,
    hash: '0xf69f17dcabb49e64a79a669ea5336cd3ce518c083c821664f295c62e39baedec',
    signature:
      '0x745070770d383e6f4e6431858070edacbea294ed0e2b16f147127edafc51b59a6e788aaeda02cce5989ee10cc983a4045313e1ec7075c5a5b84f6212b097d36a1b',
  },
  {
    name: 'V2 neg-risk',
    domain: 'v2NegRisk',
    fields: POLYMARKET_ORDER,
    hash: '0x5bb895c919311d1a74e9a82901dd0af866a3cac5dcab70e48a302e2020042cf0',
    signature:
      '0x0cf7ad04271cdfe92e93422d1ea1154b0c297b101f08c030f4b7555d7e63419e5372c7b3ba494ebf1a54e9df77b1137b1f3ee76017e4c5bb0cdc8073885e194a1c',
  },
  {
    name: 'V3',
    domain: 'v3',
    fields: POLYMARKET_ORDER,
    hash: '0x2422ccfdb24d2fc0908485dd2267fc0112d2a283b64542c3a98f0844fc001563',
    signature:
      '0x1406e9ec3bcaf3101971b2b612b5680c222e61df601ccc9a9f1f37144f10f49f408bbed7b390357803b2d1b6562a604335b790582211e76401ddbe6ae2ebc0dd1c',
  },
];

/** The venue's own version 2 by a deposit wallet: wrapped, maker = signer = wallet. */
export const WRAPPED_VECTOR = {
  fields: { ...POLYMARKET_ORDER, maker: TEST_DEPOSIT, signer: TEST_DEPOSIT, signatureType: 3 },
  hash: '0x70408eeed37f3236de6798b08afd82c77f1b0e103f9db219ae01f9a202588199',
  inner:
    '0xa1caffa48d8e9c872ddb26a1f991421307460ab4d972a1aa55ac11dba6de6236129d337e712d220608a941a026307a3269b05a429818b5bbee379b73355e8bc71c',
  bytes: 317,
} as const;

/** The 12-field struct: version 1 of the venue, and everything of the interface's profile. */
export const ORDER_VECTORS: readonly {
  name: string;
  domain: DomainName;
  fields: OrderFields;
  hash: string;
  signature: string;
}[] = [
  {
    name: 'V1 with a fee rate',
    domain: 'v1',
    fields: { ...ORDER, feeRateBps: 100n },
    hash: '0x46c2dec73dae47e86b5d589c084e6c54858d8f988db390421c8ec3a361fb78a2',
    signature:
      '0x6435b08e46470f66939b330ab21e67f599857708cfbcc084d60738369f53b813595926e177af917b73378f6b3c6ee854ff18037a26f2869b98a483089f60bea71b',
  },
  {
    name: 'V1',
    domain: 'v1',
    fields: ORDER,
    hash: '0x8b66a978415a860c6be8dbe223c20ee7bac216355e598a92ab7d7977c71ece5c',
    signature:
      '0x0eb0c850223037b289985ec44ac455606dc87d6d48cad9b5b902fa4ae8f821cc6b5e39775d75b9e8b7ecadffd204e7b0522cbfa9e85e7cc72e637a95810411ea1b',
  },
  {
    name: 'V1 neg-risk',
    domain: 'v1NegRisk',
    fields: ORDER,
    hash: '0x15fe70024443b474ad2b214d42b970dd1847676d40687b96cfa5a796dd36851c',
    signature:
      '0x3ab139e4f9f429f91c0dc44c3ca3a400e1f8decee709f70705c62c274f1176741ef5b6a18134c28379aa00124eefd204d54704476637c87c6ff92fc7a5a3158a1c',
  },
  {
    name: 'V2',
    domain: 'v2',
    fields: ORDER,
    hash: '0xac0dfc80b74d7c39b8bd27284d109487885b72de5477985528866347c1a7589f',
    signature:
      '0x3d493116ffaaeb2e5d5d99a8b9fe745977a20ec54e104f313c67b7b40178930a072391ded86a7bcf99b127d10377b9aafc4f8abeab3d0af3ad299a62cc3b202f1c',
  },
  {
    name: 'V2 neg-risk',
    domain: 'v2NegRisk',
    fields: ORDER,
    hash: '0x0d2326123a477d72b9b536f9f0585ce97799a56581dff33eeb0493a9fdf18eb8',
    signature:
      '0x554b9906f6a1c73ee10eaf9b3386ce141e6417f6facd87e3dba5cd04ddb2989e4622ff1c8ccc563b9aee7ee9548fb1070686fe02499f4786a51931d26e7149781b',
  },
  {
    name: 'V2 type 1',
    domain: 'v2',
    fields: { ...ORDER, maker: TEST_PROXY, signatureType: 1 },
    hash: '0xae4278dea9b0c29d2af19305ff03983c99fc1642f7e5b40fc01edf5b1bedf977',
    signature:
      '0xf21ccff088df5983cdc9b0a177e7838b7c22bb6bf8cea643c727f2dcca0f9377223979ffdf0a9e5bdad41d1f88c38b7e1f1fc80fbc7744d6611394e7234a51231b',
  },
  {
    name: 'V2 type 2',
    domain: 'v2',
    fields: { ...ORDER, maker: TEST_SAFE, signatureType: 2 },
    hash: '0xf4fc26353f70c6683bed148247f5f606f6160be86e8b5d23c58c371bee19a486',
    signature:
      '0xc308c3d4b34875fdb756955d868f6f2b8025788dd2b9be432edf54c72756ba8f53de38eb0d81d434594a6a6ffee2a3feb9e450e07620947b88c8caec798ec3a01b',
  },
  {
    name: 'V2 type 3',
    domain: 'v2',
    fields: { ...ORDER, maker: TEST_DEPOSIT, signatureType: 3 },
    hash: '0xef473182b5203e73056a5076664f4b27672a344be55120aac7eec4077254ced3',
    signature:
      '0x7bdb327e952e4c7eba4693c38b2362317ca1c67e816598140f5bb41e4b37c3042fd44164e5289c9779362042afacb5e780a800e55aabfb1b8bcd1944c565e8c01b',
  },
];

export const testKeyBytes = (): Uint8Array => hexToBytes(TEST_KEY);
