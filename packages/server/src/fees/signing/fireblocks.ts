/**
 * Signs with a key that Fireblocks keeps. A signature is requested once per external id, awaited until its status is
 * final or its deadline passes, and verified here before it is used. Fireblocks never broadcasts: RAW signs bytes, and
 * program calls are sign-only; so an abandoned attempt cannot move anything later.
 *
 * The life of an attempt: created (once; after a lost answer it is looked up by the external id) → waiting → signed,
 * blocked by the policy, or failed. Only the primary status decides; an unknown one counts as waiting.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseBase58, parseHex, type SolanaAddress, verifyEd25519 } from '@bellwether/protocol';
import type { SigningAnswer, SigningProvider } from '../signing-provider.ts';
import {
  createFireblocksClient,
  type FireblocksClient,
  type FireblocksClientOptions,
  type FireblocksTransaction,
} from './fireblocks-client.ts';

export interface FireblocksOptions extends FireblocksClientOptions {
  readonly vaultId: string;
  /** SOL on mainnet, SOL_TEST on devnet: selects curve and derivation. */
  readonly assetId: string;
  readonly mode: 'raw' | 'program_call';
  /** The key that the vault must have. */
  readonly address: SolanaAddress;
  readonly log: { warn(context: Readonly<Record<string, unknown>>, message: string): void };
  /** The first pause between two polls; later pauses grow. */
  readonly pauseMs?: number;
  /** How long to search for a transaction whose creation got no answer. */
  readonly recoverMs?: number;
}

const PAUSE_MS = 250;
const MAX_PAUSE_MS = 3_000;
const PAUSE_GROWTH = 1.6;
const RECOVER_MS = 15_000;
const NOT_FOUND = 404;
const BLOCKED_BY_POLICY = 'BLOCKED_BY_POLICY';

const SIGNED = new Set(['COMPLETED', 'SIGNED']);
const FAILED = new Set(['REJECTED', 'CANCELLED', 'FAILED', 'TIMEOUT']);
const WAITING = new Set([
  'SUBMITTED',
  'PENDING',
  'PENDING_AML_SCREENING',
  'PENDING_ENRICHMENT',
  'PENDING_AUTHORIZATION',
  'PENDING_SIGNATURE',
  'PENDING_3RD_PARTY',
  'PENDING_3RD_PARTY_MANUAL_APPROVAL',
  'QUEUED',
  'CANCELLING',
]);

type Request = Parameters<SigningProvider['sign']>[0];
type SigningOutcome<K extends SigningAnswer['kind']> = Extract<SigningAnswer, { kind: K }>;

/**
 * Looks up the vault's address first.
 * @throws Error when the vault has another key, or Fireblocks does not answer: the service must not start
 */
export async function createFireblocksSigning(options: FireblocksOptions): Promise<SigningProvider> {
  const client = createFireblocksClient(options);
  await requireVaultKey(client, options);
  return {
    kind: 'fireblocks',
    address: options.address,
    async sign(request) {
      try {
        const created = await createOnce(client, options, request);
        return 'kind' in created ? created : await awaitSignature(client, options, request, created);
      } catch (error) {
        options.log.warn({ fault: (error as Error).name }, 'signing with Fireblocks failed');
        return failed(null, 'the signing provider could not be asked');
      }
    },
  };
}

async function requireVaultKey(client: FireblocksClient, options: FireblocksOptions): Promise<void> {
  const { vaultId, assetId, address } = options;
  const where = `vault account ${vaultId}, asset ${assetId}`;
  const answer = await client.vaultAddresses(vaultId, assetId);
  if (answer.kind !== 'ok') {
    const why = answer.kind === 'later' ? 'too many requests' : answer.detail;
    throw new Error(`The address of Fireblocks ${where} could not be looked up: ${why}.`);
  }
  // Both modes sign with the account's first key.
  const first = answer.value.addresses.filter(({ bip44AddressIndex = 0 }) => bip44AddressIndex === 0);
  if (first.some((found) => found.address === address)) return;
  const found = first.map((row) => row.address).join(', ') || 'none';
  throw new Error(
    `Fireblocks ${where} has the address ${found}, not ${address}: correct FIREBLOCKS_ADDRESS or FIREBLOCKS_VAULT_ID.`,
  );
}

const failed = (id: string | null, detail: string): SigningOutcome<'failed'> => ({
  kind: 'failed',
  id,
  detail,
});

const blocked = (id: string | null, detail: string): SigningOutcome<'blocked_by_policy'> => ({
  kind: 'blocked_by_policy',
  id,
  detail: detail.includes(BLOCKED_BY_POLICY) ? detail : `${BLOCKED_BY_POLICY}: ${detail}`,
});

const bodyOf = ({ vaultId, assetId, mode }: FireblocksOptions, request: Request) => ({
  operation: mode === 'raw' ? 'RAW' : 'PROGRAM_CALL',
  assetId,
  source: { type: 'VAULT_ACCOUNT', id: vaultId },
  note: request.note,
  externalTxId: request.externalId,
  extraParameters:
    mode === 'raw'
      ? { rawMessageData: { messages: [{ content: Buffer.from(request.message).toString('hex') }] } }
      : {
          programCallData: Buffer.from(request.wire).toString('base64'),
          signOnly: true,
          useDurableNonce: false,
        },
});

/** Growing pauses; `false` once `until` has passed. */
function createPauses({ now, pauseMs = PAUSE_MS }: FireblocksOptions, until: number) {
  let pause = pauseMs;
  return async (): Promise<boolean> => {
    const left = until - now();
    if (left <= 0) return false;
    await sleep(Math.min(pause, left));
    pause = Math.min(pause * PAUSE_GROWTH, MAX_PAUSE_MS);
    return now() < until;
  };
}

async function createOnce(
  client: FireblocksClient,
  options: FireblocksOptions,
  request: Request,
): Promise<FireblocksTransaction | SigningAnswer> {
  const pause = createPauses(options, request.deadline);
  do {
    const answer = await client.create(bodyOf(options, request));
    if (answer.kind === 'ok') return answer.value;
    if (answer.kind === 'unclear') return recover(client, options, request, answer.detail);
    if (answer.kind === 'refused') {
      // The API also refuses a repeat: then the first transaction exists.
      const first = await client.byExternalId(request.externalId);
      if (first.kind === 'ok') return first.value;
      return answer.detail.includes(BLOCKED_BY_POLICY)
        ? blocked(null, answer.detail)
        : failed(null, answer.detail);
    }
  } while (await pause());
  return failed(null, 'Fireblocks takes no more requests at the moment');
}

/** The creation got no answer and may have happened: look it up, never send it again. */
async function recover(
  client: FireblocksClient,
  options: FireblocksOptions,
  { externalId, deadline }: Request,
  detail: string,
): Promise<FireblocksTransaction | SigningAnswer> {
  const until = Math.min(deadline, options.now() + (options.recoverMs ?? RECOVER_MS));
  const pause = createPauses(options, until);
  do {
    const found = await client.byExternalId(externalId);
    if (found.kind === 'ok') return found.value;
    if (found.kind === 'refused' && found.status !== NOT_FOUND) return failed(null, found.detail);
  } while (await pause());
  return failed(null, detail);
}

async function awaitSignature(
  client: FireblocksClient,
  options: FireblocksOptions,
  request: Request,
  created: FireblocksTransaction,
): Promise<SigningAnswer> {
  const pause = createPauses(options, request.deadline);
  const warned = new Set<string>();
  let { status, subStatus } = created;
  const { id } = created;
  do {
    // Only a get returns signatures.
    const answer = await client.get(id);
    if (answer.kind === 'ok') {
      ({ status, subStatus } = answer.value);
      const end = endOf(answer.value, request.message, options.address);
      if (end !== null) return end;
      if (!WAITING.has(status) && !warned.has(status)) {
        warned.add(status);
        options.log.warn({ id, status, subStatus }, 'Fireblocks sent an unexpected status');
      }
    }
  } while (await pause());
  await client.cancel(id);
  return failed(id, `no signature in time; the last status was ${spelled(status, subStatus)}`);
}

/** "BLOCKED BLOCKED_BY_POLICY" says one thing twice. */
const spelled = (status: string, subStatus: string | null | undefined): string =>
  (subStatus ? (subStatus === BLOCKED_BY_POLICY ? subStatus : `${status} ${subStatus}`) : status).replaceAll(
    /[^\x20-\x7e]/g,
    '?',
  );

/** The outcome of a transaction's status; `null` while it is not final. */
function endOf(
  transaction: FireblocksTransaction,
  message: Uint8Array,
  address: SolanaAddress,
): SigningAnswer | null {
  const { id, status, subStatus } = transaction;
  if (status === 'BLOCKED' || subStatus === BLOCKED_BY_POLICY) return blocked(id, spelled(status, subStatus));
  if (FAILED.has(status)) return failed(id, spelled(status, subStatus));
  if (!SIGNED.has(status)) return null;
  return signatureOf(transaction, message, address);
}

/** The signature is in `signedMessages` or in `txHash`, depending on the mode: returns the one that verifies. */
function signatureOf(
  { id, signedMessages, txHash }: FireblocksTransaction,
  message: Uint8Array,
  address: SolanaAddress,
): SigningAnswer {
  const publicKey = parseBase58(address)!;
  const ours = Buffer.from(publicKey).toString('hex');
  const others = (signedMessages ?? []).filter(
    (each) => each.publicKey && each.publicKey.toLowerCase() !== ours,
  );
  const spellings = [
    ...(signedMessages ?? [])
      .filter((each) => !others.includes(each))
      .map((each) => parseHex(each.signature?.fullSig ?? '')),
    parseBase58(txHash ?? ''),
  ];
  for (const signature of spellings) {
    if (signature?.length === 64 && verifyEd25519(publicKey, message, signature))
      return { kind: 'signed', id, signature };
  }
  if (others.length > 0) return failed(id, 'Fireblocks signed with another key than the configured one');
  return failed(id, 'what Fireblocks returned is no signature of the message');
}
