/**
 * Instructions in the formats of Solana's RPC: compiled (indices), or parsed for the programs that nodes parse (system, tokens,
 * associated token accounts, memos). What cannot be parsed is shown partially decoded, as nodes do.
 */
import { SOLANA_PROGRAMS, toBase58 } from '@bellwether/protocol';
import { uiTokenAmount } from './account-json.ts';

export interface Instruction {
  readonly program: string;
  /** Addresses. */
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

type Info = Readonly<Record<string, unknown>>;
interface Parsed {
  readonly program: string;
  readonly parsed: unknown;
}

export function parsedInstruction(instruction: Instruction): object {
  const { program, accounts, data, stackHeight } = instruction;
  const parsed = parse(instruction);
  if (parsed === null) return { programId: program, accounts, data: toBase58(data), stackHeight };
  return { ...parsed, programId: program, stackHeight };
}

function parse({ program, accounts, data }: Instruction): Parsed | null {
  try {
    const read = new Reader(data, accounts);
    switch (program) {
      case SOLANA_PROGRAMS.system:
        return named('system', systemInstruction(read));
      case SOLANA_PROGRAMS.token:
        return named('spl-token', tokenInstruction(read));
      case SOLANA_PROGRAMS.token2022:
        return named('spl-token-2022', tokenInstruction(read));
      case SOLANA_PROGRAMS.associatedToken:
        return named('spl-associated-token-account', associatedInstruction(read));
      case SOLANA_PROGRAMS.memo:
        return { program: 'spl-memo', parsed: new TextDecoder('utf-8', { fatal: true }).decode(data) };
      default:
        return null;
    }
  } catch (error) {
    // Too short, or no text: not what the program would take either.
    if (error instanceof RangeError || error instanceof TypeError) return null;
    throw error;
  }
}

interface Typed {
  readonly type: string;
  readonly info: Info;
}

const named = (program: string, parsed: Typed | null): Parsed | null =>
  parsed === null ? null : { program, parsed };

/** Fields of an instruction's data, and its accounts by position. @throws RangeError when something is missing */
class Reader {
  readonly #bytes: Buffer;
  readonly #accounts: readonly string[];
  #at = 0;

  constructor(data: Uint8Array, accounts: readonly string[]) {
    this.#bytes = Buffer.from(data);
    this.#accounts = accounts;
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  get accounts(): readonly string[] {
    return this.#accounts;
  }

  u8(): number {
    this.#at += 1;
    return this.#bytes.readUInt8(this.#at - 1);
  }

  u32(): number {
    this.#at += 4;
    return this.#bytes.readUInt32LE(this.#at - 4);
  }

  u64(): bigint {
    this.#at += 8;
    return this.#bytes.readBigUInt64LE(this.#at - 8);
  }

  key(): string {
    this.#at += 32;
    if (this.#at > this.#bytes.length) throw new RangeError('too short');
    return toBase58(this.#bytes.subarray(this.#at - 32, this.#at));
  }

  account(index: number): string {
    const account = this.#accounts[index];
    if (account === undefined) throw new RangeError('an account is missing');
    return account;
  }
}

function systemInstruction(read: Reader): Typed | null {
  switch (read.u32()) {
    case 0: {
      const [lamports, space, owner] = [read.u64(), read.u64(), read.key()];
      const info = { source: read.account(0), newAccount: read.account(1), lamports, space, owner };
      return { type: 'createAccount', info };
    }
    case 1:
      return { type: 'assign', info: { account: read.account(0), owner: read.key() } };
    case 2:
      return {
        type: 'transfer',
        info: { source: read.account(0), destination: read.account(1), lamports: read.u64() },
      };
    case 8:
      return { type: 'allocate', info: { account: read.account(0), space: read.u64() } };
    default:
      return null;
  }
}

/** An authority that is a multisig is followed by its signers. */
function authority(read: Reader, name: string, index: number): Info {
  const signers = read.accounts.slice(index + 1);
  if (signers.length === 0) return { [name]: read.account(index) };
  const multisig = `multisig${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return { [multisig]: read.account(index), signers };
}

const amountOf = (read: Reader): Info => ({ amount: String(read.u64()) });
const checkedAmountOf = (read: Reader): Info => {
  const amount = read.u64();
  return { tokenAmount: uiTokenAmount(amount, read.u8()) };
};

function tokenInstruction(read: Reader): Typed | null {
  const account = (index: number): string => read.account(index);
  switch (read.u8()) {
    case 3:
      return typed(
        'transfer',
        { source: account(0), destination: account(1), ...amountOf(read) },
        authority(read, 'authority', 2),
      );
    case 4:
      return typed(
        'approve',
        { source: account(0), delegate: account(1), ...amountOf(read) },
        authority(read, 'owner', 2),
      );
    case 5:
      return typed('revoke', { source: account(0) }, authority(read, 'owner', 1));
    case 7:
      return typed(
        'mintTo',
        { mint: account(0), account: account(1), ...amountOf(read) },
        authority(read, 'mintAuthority', 2),
      );
    case 8:
      return typed(
        'burn',
        { account: account(0), mint: account(1), ...amountOf(read) },
        authority(read, 'authority', 2),
      );
    case 9:
      return typed(
        'closeAccount',
        { account: account(0), destination: account(1) },
        authority(read, 'owner', 2),
      );
    case 12:
      return typed(
        'transferChecked',
        { source: account(0), mint: account(1), destination: account(2), ...checkedAmountOf(read) },
        authority(read, 'authority', 3),
      );
    case 13:
      return typed(
        'approveChecked',
        { source: account(0), mint: account(1), delegate: account(2), ...checkedAmountOf(read) },
        authority(read, 'owner', 3),
      );
    case 14:
      return typed(
        'mintToChecked',
        { mint: account(0), account: account(1), ...checkedAmountOf(read) },
        authority(read, 'mintAuthority', 2),
      );
    case 15:
      return typed(
        'burnChecked',
        { account: account(0), mint: account(1), ...checkedAmountOf(read) },
        authority(read, 'authority', 2),
      );
    case 17:
      return typed('syncNative', { account: account(0) });
    case 18:
      return typed('initializeAccount3', { account: account(0), mint: account(1), owner: read.key() });
    case 20:
      return typed('initializeMint2', { mint: account(0), ...newMint(read) });
    case 22:
      return typed('initializeImmutableOwner', { account: account(0) });
    default:
      return null;
  }
}

function newMint(read: Reader): Info {
  const [decimals, mintAuthority] = [read.u8(), read.key()];
  return { decimals, mintAuthority, ...(read.u8() === 1 ? { freezeAuthority: read.key() } : {}) };
}

const typed = (type: string, ...parts: readonly Info[]): Typed => ({
  type,
  info: Object.assign({}, ...parts),
});

function associatedInstruction(read: Reader): Typed | null {
  const tag = read.isEmpty ? 0 : read.u8();
  if (tag > 1) return null;
  const [source, account, wallet, mint] = [0, 1, 2, 3].map((index) => read.account(index));
  const info = {
    source,
    account,
    wallet,
    mint,
    systemProgram: read.account(4),
    tokenProgram: read.account(5),
  };
  return { type: tag === 0 ? 'create' : 'createIdempotent', info };
}
