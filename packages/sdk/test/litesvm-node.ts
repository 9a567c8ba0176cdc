/** A Solana node of one process: litesvm behind the JSON-RPC calls that the SDK makes. */
import {
  associatedTokenAddress,
  parseBase64Strict,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  toBase64,
  transactionId,
  USDC_MINT,
} from '@bellwether/protocol';
import {
  type Address,
  address,
  type EncodedAccount,
  getBase64Encoder,
  getTransactionDecoder,
  lamports,
  none,
} from '@solana/kit';
import {
  AccountState,
  decodeToken,
  getMintEncoder,
  getTokenEncoder,
  type Token,
} from '@solana-program/token';
import { FailedTransactionMetadata, LiteSVM } from 'litesvm';
import { sendJson, standIn } from '../../../test/stand-in.ts';

export interface LitesvmNode {
  readonly url: string;
  readonly svm: LiteSVM;
  /** Methods called, in order. */
  readonly calls: string[];
  /** Overrides the answer to a method; `cut` closes the connection. */
  override: (method: string) => { result: unknown } | { error: unknown } | 'cut' | undefined;
  fund(wallet: SolanaAddress, atoms: bigint): Promise<void>;
  /** Gives a wallet tokens of any mint, in an account of the classic program. */
  hold(wallet: SolanaAddress, mint: SolanaAddress, atoms: bigint): void;
  token(wallet: SolanaAddress): Token;
}

const TOKEN_PROGRAM = address(SOLANA_PROGRAMS.token);
const tokenAccount = (wallet: SolanaAddress, mint = USDC_MINT): Address =>
  address(associatedTokenAddress(wallet, mint, SOLANA_PROGRAMS.token));

function putMint(svm: LiteSVM): void {
  svm.setAccount({
    address: address(USDC_MINT),
    lamports: lamports(10_000_000n),
    data: new Uint8Array(
      getMintEncoder().encode({
        mintAuthority: none(),
        supply: 10n ** 15n,
        decimals: 6,
        isInitialized: true,
        freezeAuthority: none(),
      }),
    ),
    programAddress: TOKEN_PROGRAM,
    executable: false,
    space: 82n,
  });
}

function putTokens(svm: LiteSVM, wallet: SolanaAddress, amount: bigint, mint = USDC_MINT): void {
  svm.setAccount({
    address: tokenAccount(wallet, mint),
    lamports: lamports(10_000_000n),
    data: new Uint8Array(
      getTokenEncoder().encode({
        mint: address(mint),
        owner: address(wallet),
        amount,
        delegate: none(),
        state: AccountState.Initialized,
        isNative: none(),
        delegatedAmount: 0n,
        closeAuthority: none(),
      }),
    ),
    programAddress: TOKEN_PROGRAM,
    executable: false,
    space: 165n,
  });
}

const wireAccount = ({
  lamports: held,
  programAddress,
  executable,
  data,
}: Omit<EncodedAccount, 'address'>) => ({
  lamports: Number(held),
  owner: programAddress,
  executable,
  data: [toBase64(new Uint8Array(data)), 'base64'],
});

/** A node's answer to a simulation that requests accounts. */
function simulated(svm: LiteSVM, base64: string, addresses: readonly string[]) {
  const result = svm.simulateTransaction(getTransactionDecoder().decode(getBase64Encoder().encode(base64)));
  if (result instanceof FailedTransactionMetadata)
    return { value: { err: String(result.err()), accounts: null } };
  const after = new Map(result.postAccounts().map((account) => [account.address as string, account]));
  const accounts = addresses.map((each) => {
    const account = after.get(each);
    // Closed accounts are returned as empty ones.
    return account === undefined || account.lamports === 0n ? null : wireAccount(account);
  });
  return { value: { err: null, accounts } };
}

/** @param sigVerify false: unsigned transactions are simulated, as a real node does when it is asked to */
export async function startLitesvmNode({ sigVerify = true } = {}): Promise<LitesvmNode> {
  const svm = new LiteSVM().withSigverify(sigVerify);
  putMint(svm);
  const landed = new Map<string, unknown>();
  const methods: Record<string, (params: readonly unknown[]) => unknown> = {
    getLatestBlockhash: () => ({ value: { blockhash: svm.latestBlockhash(), lastValidBlockHeight: 150 } }),
    getBlockHeight: () => 1,
    getMultipleAccounts: ([addresses]) => ({
      value: (addresses as string[]).map((each) => {
        const account = svm.getAccount(address(each));
        return account.exists ? wireAccount(account) : null;
      }),
    }),
    simulateTransaction: ([base64, options]) =>
      simulated(svm, String(base64), (options as { accounts: { addresses: string[] } }).accounts.addresses),
    sendTransaction: ([sent]) => {
      const base64 = String(sent);
      const wire = parseBase64Strict(base64)!;
      const signature = transactionId(readTransaction(wire));
      if (landed.has(signature)) return signature;
      const result = svm.sendTransaction(getTransactionDecoder().decode(getBase64Encoder().encode(base64)));
      if (result instanceof FailedTransactionMetadata) throw new Error(String(result.err()));
      landed.set(signature, null);
      return signature;
    },
    getSignatureStatuses: ([signatures]) => ({
      value: (signatures as string[]).map((signature) =>
        landed.has(signature) ? { err: landed.get(signature), confirmationStatus: 'confirmed' } : null,
      ),
    }),
  };
  const node = { svm, calls: [] as string[], override: () => undefined } as unknown as LitesvmNode;
  const answer = (method: string, params: readonly unknown[]) => {
    try {
      return { result: methods[method]!(params) };
    } catch (error) {
      return { error: { code: -32002, message: String(error) } };
    }
  };
  const url = await standIn(({ body }, response) => {
    const { method, params, id } = JSON.parse(body);
    node.calls.push(method);
    const given = node.override(method) ?? answer(method, params);
    if (given === 'cut') response.destroy();
    else sendJson(response, { jsonrpc: '2.0', id, ...given });
  });
  return Object.assign(node, {
    url,
    async fund(wallet: SolanaAddress, atoms: bigint) {
      svm.airdrop(address(wallet), lamports(1_000_000_000n));
      putTokens(svm, wallet, atoms);
    },
    hold(wallet: SolanaAddress, mint: SolanaAddress, atoms: bigint) {
      putTokens(svm, wallet, atoms, mint);
    },
    token(wallet: SolanaAddress) {
      const account = svm.getAccount(tokenAccount(wallet));
      if (!account.exists) throw new Error('no such account');
      return decodeToken(account).data;
    },
  });
}
