/** The owner's passkey: a new account, a sign-in, and the word for one approval. */
import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser';
import { send, Trouble } from './call.ts';

type SignInOptions = Parameters<typeof startAuthentication>[0]['optionsJSON'];
type RegistrationOptions = Parameters<typeof startRegistration>[0]['optionsJSON'];

/** Explains in words why a passkey did not come about, from the browser's error. */
function passkeyTrouble(error: unknown): Trouble {
  switch ((error as Error | undefined)?.name) {
    case 'NotAllowedError':
    case 'AbortError':
      return new Trouble('The passkey prompt was closed, or took too long. Nothing has changed; try again.');
    case 'InvalidStateError':
      return new Trouble('This device already has a passkey for this account: sign in with it.');
    case 'SecurityError':
      return new Trouble('This address cannot use passkeys: they need https, or localhost.');
    default:
      return new Trouble('The passkey did not work on this device. Try another device or browser.');
  }
}

const asTrouble = (error: unknown): never => {
  throw passkeyTrouble(error);
};

function requirePasskeys(): void {
  if (!browserSupportsWebAuthn())
    throw new Trouble('This browser, or this address, cannot use passkeys: they need https, or localhost.');
}

/** The device's answer to a challenge of the desk. @throws {Trouble} */
export async function answerChallenge(optionsJSON: unknown) {
  requirePasskeys();
  return startAuthentication({ optionsJSON: optionsJSON as SignInOptions }).catch(asTrouble);
}

/** @throws {Trouble} */
export async function register(name: string): Promise<void> {
  requirePasskeys();
  const optionsJSON = await send<RegistrationOptions>('/owner/passkey/register-options', { name });
  const response = await startRegistration({ optionsJSON }).catch(asTrouble);
  await send('/owner/passkey/register', { response });
}

/** @throws {Trouble} */
export async function signIn(): Promise<void> {
  requirePasskeys();
  const options = await send<SignInOptions>('/owner/passkey/sign-in-options');
  await send('/owner/passkey/sign-in', { response: await answerChallenge(options) });
}
