/** Passkeys (WebAuthn), as the use cases need them. What the browser sends is untrusted until it is verified here. */
export interface NewPasskey {
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly backedUp: boolean;
}

/** What goes to the browser, and the challenge in it. */
export interface PasskeyOptions {
  readonly challenge: string;
  readonly [name: string]: unknown;
}

export interface Passkeys {
  /** @param handle what the authenticator will know the account by, base64url */
  registrationOptions(account: { readonly handle: string; readonly name: string }): Promise<PasskeyOptions>;
  signInOptions(): Promise<PasskeyOptions>;
  /** The challenge that an answer says it answers; `null` when it cannot be read. */
  challengeOf(answer: PasskeyAnswer): string | null;
  /** @returns `null` when the answer does not hold. */
  verifyRegistration(answer: PasskeyAnswer, challenge: string): Promise<NewPasskey | null>;
  /** @returns the authenticator's new count, `null` when the answer does not hold. */
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
