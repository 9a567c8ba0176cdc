/** How a run can end. The command line, its help and docs/cli.md all read this table. */
export const EXIT_CODES = {
  done: { status: 0, meaning: 'Done.' },
  unexpected: { status: 1, meaning: 'Something that this program does not expect: please report it.' },
  usage: { status: 2, meaning: 'The command line is wrong. Nothing was sent.' },
  refused: {
    status: 3,
    meaning:
      'Refused: by the desk, by the venue, or by a limit on this machine. The error says by which check, and what to do. No order was placed.',
  },
  unknown: {
    status: 4,
    meaning:
      'An order was sent and its outcome is not known here. The error carries `orderId`: look it up before you send another.',
  },
  unreachable: {
    status: 5,
    meaning: 'The desk did not answer in time, or cannot work now. Nothing was placed.',
  },
  keystore: {
    status: 6,
    meaning: 'The keys cannot be used: no keystore, a wrong passphrase, a damaged file, or a key is missing.',
  },
  unconfirmed: { status: 7, meaning: 'The question was not answered with yes. Nothing was sent.' },
  unverified: {
    status: 8,
    meaning: 'What the desk gave to sign is not what was asked for. It was not signed, and nothing was sent.',
  },
  findings: { status: 9, meaning: 'The doctor found something wrong, or could not look at all of it.' },
  interrupted: { status: 130, meaning: 'Stopped with Ctrl-C or by a signal before anything was placed.' },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly meaning: string }>>;

export type ExitName = keyof typeof EXIT_CODES;
