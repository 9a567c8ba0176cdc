/** Passkeys (WebAuthn), as the use cases need them. What the browser sends is untrusted until it is verified here. */
export interface NewPasskey {
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly backedUp: boolean;
}

/** The options for the browser, and the challenge in them. */
export interface PasskeyOptions {
  readonly challenge: string;
  readonly [name: string]: unknown;
}

export interface Passkeys {
  /** @param handle the authenticator's id of the account, base64url */
  registrationOptions(account: {
    readonly handle: string;
    readonly name: string;
    /** A device that has one of them makes none. */
    readonly credentialIds: readonly string[];
  }): Promise<PasskeyOptions>;
  signInOptions(): Promise<PasskeyOptions>;
  /** The challenge named in an answer; `null` when the answer cannot be read. */
  challengeOf(answer: PasskeyAnswer): string | null;
  /** @returns `null` when the answer is not valid. */
  verifyRegistration(answer: PasskeyAnswer, challenge: string): Promise<NewPasskey | null>;
  /** @returns the authenticator's new counter, `null` when the answer is not valid. */
  verifySignIn(
    answer: PasskeyAnswer,
    challenge: string,
    passkey: Pick<NewPasskey, 'credentialId' | 'publicKey' | 'counter'>,
  ): Promise<{ readonly counter: number } | null>;
}

/** The browser's JSON; its inner fields depend on the ceremony. */
export interface PasskeyAnswer {
  readonly id: string;
  readonly rawId: string;
  readonly type: 'public-key';
  readonly response: Readonly<Record<string, unknown>> & { readonly clientDataJSON: string };
}
