/**
 * The virtual machine's errors in the JSON form and the texts of Solana's RPC. The machine numbers errors without
 * fields; the order of these names is that numbering, and a test pins it.
 */
import type {
  FailedTransactionMetadata,
  InstructionErrorBorshIo,
  InstructionErrorCustom,
  TransactionErrorInstructionError,
} from 'litesvm/dist/internal.js';

const TRANSACTION_ERRORS = [
  'AccountInUse',
  'AccountLoadedTwice',
  'AccountNotFound',
  'ProgramAccountNotFound',
  'InsufficientFundsForFee',
  'InvalidAccountForFee',
  'AlreadyProcessed',
  'BlockhashNotFound',
  'CallChainTooDeep',
  'MissingSignatureForFee',
  'InvalidAccountIndex',
  'SignatureFailure',
  'InvalidProgramForExecution',
  'SanitizeFailure',
  'ClusterMaintenance',
  'AccountBorrowOutstanding',
  'WouldExceedMaxBlockCostLimit',
  'UnsupportedVersion',
  'InvalidWritableAccount',
  'WouldExceedMaxAccountCostLimit',
  'WouldExceedAccountDataBlockLimit',
  'TooManyAccountLocks',
  'AddressLookupTableNotFound',
  'InvalidAddressLookupTableOwner',
  'InvalidAddressLookupTableData',
  'InvalidAddressLookupTableIndex',
  'InvalidRentPayingAccount',
  'WouldExceedMaxVoteCostLimit',
  'WouldExceedAccountDataTotalLimit',
  'MaxLoadedAccountsDataSizeExceeded',
  'ResanitizationNeeded',
  'InvalidLoadedAccountsDataSizeLimit',
  'UnbalancedTransaction',
  'ProgramCacheHitMaxLimit',
  'CommitCancelled',
] as const;

const INSTRUCTION_ERRORS = [
  'GenericError',
  'InvalidArgument',
  'InvalidInstructionData',
  'InvalidAccountData',
  'AccountDataTooSmall',
  'InsufficientFunds',
  'IncorrectProgramId',
  'MissingRequiredSignature',
  'AccountAlreadyInitialized',
  'UninitializedAccount',
  'UnbalancedInstruction',
  'ModifiedProgramId',
  'ExternalAccountLamportSpend',
  'ExternalAccountDataModified',
  'ReadonlyLamportChange',
  'ReadonlyDataModified',
  'DuplicateAccountIndex',
  'ExecutableModified',
  'RentEpochModified',
  'NotEnoughAccountKeys',
  'AccountDataSizeChanged',
  'AccountNotExecutable',
  'AccountBorrowFailed',
  'AccountBorrowOutstanding',
  'DuplicateAccountOutOfSync',
  'InvalidError',
  'ExecutableDataModified',
  'ExecutableLamportChange',
  'ExecutableAccountNotRentExempt',
  'UnsupportedProgramId',
  'CallDepth',
  'MissingAccount',
  'ReentrancyNotAllowed',
  'MaxSeedLengthExceeded',
  'InvalidSeeds',
  'InvalidRealloc',
  'ComputationalBudgetExceeded',
  'PrivilegeEscalation',
  'ProgramEnvironmentSetupFailure',
  'ProgramFailedToComplete',
  'ProgramFailedToCompile',
  'Immutable',
  'IncorrectAuthority',
  'AccountNotRentExempt',
  'InvalidAccountOwner',
  'ArithmeticOverflow',
  'UnsupportedSysvar',
  'IllegalOwner',
  'MaxAccountsDataAllocationsExceeded',
  'MaxAccountsExceeded',
  'MaxInstructionTraceLengthExceeded',
  'BuiltinProgramsMustConsumeComputeUnits',
  'BorshIoError',
] as const;

type MachineError = ReturnType<FailedTransactionMetadata['err']>;
type InstructionFault = ReturnType<TransactionErrorInstructionError['err']>;

/** `TransactionError` in the form of the RPC. */
export function toRpcError(error: MachineError): unknown {
  if (typeof error === 'number') return nameOf(TRANSACTION_ERRORS, error);
  switch (error.constructor.name) {
    case 'TransactionErrorInstructionError': {
      const fault = error as TransactionErrorInstructionError;
      return { InstructionError: [fault.index, instructionError(fault.err())] };
    }
    case 'TransactionErrorDuplicateInstruction':
      return { DuplicateInstruction: (error as { index: number }).index };
    case 'TransactionErrorInsufficientFundsForRent':
      return {
        InsufficientFundsForRent: { account_index: (error as { accountIndex: number }).accountIndex },
      };
    case 'TransactionErrorProgramExecutionTemporarilyRestricted':
      return {
        ProgramExecutionTemporarilyRestricted: {
          account_index: (error as { accountIndex: number }).accountIndex,
        },
      };
    default:
      throw new Error(`the virtual machine gave an error of unknown kind: ${String(error)}`);
  }
}

function instructionError(fault: InstructionFault): unknown {
  if (typeof fault === 'number') return nameOf(INSTRUCTION_ERRORS, fault);
  if ('code' in fault) return { Custom: (fault as InstructionErrorCustom).code };
  return { BorshIoError: (fault as InstructionErrorBorshIo).msg };
}

function nameOf(names: readonly string[], index: number): string {
  const name = names[index];
  if (name === undefined) throw new Error(`the virtual machine gave an error of unknown number: ${index}`);
  return name;
}

/** Frequent errors, with a node's texts. */
const SENTENCES: Readonly<Record<string, string>> = {
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  InvalidAccountForFee: 'This account may not be used to pay transaction fees',
  ProgramAccountNotFound: 'Attempt to load a program that does not exist',
  InvalidProgramForExecution: 'This program may not be used for executing instructions',
  SignatureFailure: 'Transaction did not pass signature verification',
  AddressLookupTableNotFound: "Transaction loads an address table account that doesn't exist",
};

/** The error as a node's text. */
export function errorSentence(err: unknown): string {
  if (typeof err === 'string') return SENTENCES[err] ?? err;
  const { InstructionError: fault, InsufficientFundsForRent: rent } = err as {
    InstructionError?: readonly [number, unknown];
    InsufficientFundsForRent?: { account_index: number };
  };
  if (rent !== undefined)
    return `Transaction results in an account (${rent.account_index}) with insufficient funds for rent`;
  if (fault === undefined) return JSON.stringify(err);
  const [index, what] = fault;
  const custom = (what as { Custom?: number }).Custom;
  const words =
    custom !== undefined ? `custom program error: 0x${custom.toString(16)}` : instructionSentence(what);
  return `Error processing Instruction ${index}: ${words}`;
}

const instructionSentence = (what: unknown): string =>
  typeof what === 'string' ? what : JSON.stringify(what);
