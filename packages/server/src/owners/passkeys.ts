/** Passkeys (WebAuthn), as the use cases need them. What the browser sends is untrusted until it is verified here. */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';

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

// Passkeys through SimpleWebAuthn. The host of the public URL is the relying party, and only answers from its origin are
// accepted. User verification is required: a passkey identifies a person, not a device.

const SITE_NAME = 'Bellwether';
/** As long as the challenge lives. */
const TIMEOUT_MS = 300_000;
/** Ed25519, ES256 and RS256 (COSE). Without this list the library also uses experimental algorithms of the runtime. */
const ALGORITHMS = [-8, -7, -257];

/** Loaded on demand: it takes a third of a second, and most starts never need it. */
const library = () => import('@simplewebauthn/server');

/** @param publicUrl read each time: it may be known only after the service listens */
export function createPasskeys(publicUrl: () => string): Passkeys {
  const site = () => {
    const { hostname, origin } = new URL(publicUrl());
    return { expectedRPID: hostname, expectedOrigin: origin };
  };
  return {
    async registrationOptions({ handle, name, credentialIds }) {
      const { generateRegistrationOptions } = await library();
      const options = await generateRegistrationOptions({
        rpName: SITE_NAME,
        rpID: site().expectedRPID,
        userName: name,
        userDisplayName: name,
        userID: new Uint8Array(Buffer.from(handle, 'base64url')),
        excludeCredentials: credentialIds.map((id) => ({ id })),
        timeout: TIMEOUT_MS,
        attestationType: 'none',
        supportedAlgorithmIDs: ALGORITHMS,
        // Discoverable: the owner can sign in without typing a name.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      return options as unknown as PasskeyOptions;
    },

    async signInOptions() {
      const { generateAuthenticationOptions } = await library();
      const options = await generateAuthenticationOptions({
        rpID: site().expectedRPID,
        timeout: TIMEOUT_MS,
        userVerification: 'required',
      });
      return options as unknown as PasskeyOptions;
    },

    challengeOf(answer) {
      try {
        const clientData: unknown = JSON.parse(
          Buffer.from(answer.response.clientDataJSON, 'base64url').toString('utf8'),
        );
        const { challenge } = clientData as { challenge?: unknown };
        return typeof challenge === 'string' && /^[A-Za-z0-9_-]{1,128}$/.test(challenge) ? challenge : null;
      } catch {
        return null;
      }
    },

    async verifyRegistration(answer, challenge) {
      const { verifyRegistrationResponse } = await library();
      // The library throws for every invalid answer, without error codes.
      const result = await verifyRegistrationResponse({
        response: withExtensions(answer) as unknown as RegistrationResponseJSON,
        expectedChallenge: challenge,
        supportedAlgorithmIDs: ALGORITHMS,
        ...site(),
      }).catch(() => null);
      if (result === null || !result.verified) return null;
      const { credential, credentialBackedUp } = result.registrationInfo;
      return {
        credentialId: credential.id,
        publicKey: credential.publicKey,
        counter: credential.counter,
        transports: credential.transports ?? [],
        backedUp: credentialBackedUp,
      };
    },

    async verifySignIn(answer, challenge, passkey) {
      const { verifyAuthenticationResponse } = await library();
      const result = await verifyAuthenticationResponse({
        response: withExtensions(answer) as unknown as AuthenticationResponseJSON,
        expectedChallenge: challenge,
        ...site(),
        credential: {
          id: passkey.credentialId,
          publicKey: new Uint8Array(passkey.publicKey),
          counter: passkey.counter,
        },
      }).catch(() => null);
      return result?.verified === true ? { counter: result.authenticationInfo.newCounter } : null;
    },
  };
}

/** The service requests no extensions, so it reads none. */
const withExtensions = (answer: PasskeyAnswer) => ({ ...answer, clientExtensionResults: {} });
