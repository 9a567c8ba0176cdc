/** Rows of the error registry: agents, owners, the operator, skills and wallets. */
import type { ErrorRow } from './error-row.ts';

export const ACCOUNT_ERRORS = {
  // Agents and keys
  claim_code_required: {
    status: 400,
    title: 'Claim code required',
    fix: 'Name the claim code: GET /agents/claim/{claimCode}.',
  },
  claim_code_not_found: {
    status: 404,
    title: 'Claim code not found',
    fix: 'Check the code: two groups of five letters and digits.',
  },
  api_key_not_found: {
    status: 404,
    title: 'API key not found',
    fix: 'List the keys of this agent with GET /agents/api-key/list.',
  },
  api_key_limit_reached: {
    status: 409,
    title: 'Too many API keys',
    fix: 'Revoke a key that is not used any more: DELETE /agents/api-key/{id}.',
  },
  last_active_key: {
    status: 409,
    title: 'Last active key',
    fix: 'Create another key first, or revoke with ?force=true and lose access.',
  },

  // The operator
  kept_trade_not_found: {
    status: 404,
    title: 'Kept trade not found',
    fix: 'List what is kept aside with GET /operator/kept-trades; what was decided is there no longer.',
  },

  // Owners and what they lock
  locked_by_owner: {
    status: 403,
    title: 'Locked by the owner',
    fix: 'Keep within "lockedByOwner" of GET /agents/settings, or ask the owner, who can change it on the claim page.',
  },
  owner_session_required: {
    status: 401,
    title: 'Sign-in required',
    fix: 'Open the claim URL, or /console, in a browser and sign in with your passkey.',
  },
  passkey_challenge_expired: {
    status: 400,
    title: 'Passkey challenge expired',
    fix: 'Start again: a challenge is good for one answer within five minutes.',
  },
  passkey_rejected: {
    status: 400,
    title: 'Passkey rejected',
    fix: 'Try again with the passkey that you registered here, or register a new one.',
  },
  passkey_not_found: {
    status: 404,
    title: 'Passkey not found',
    fix: 'Use the passkeyId of one of your passkeys: GET /owner/passkeys.',
  },
  another_passkey_required: {
    status: 400,
    title: 'Another passkey required',
    fix: 'Add another passkey first: an account without one cannot be opened again.',
  },
  passkey_limit_reached: {
    status: 409,
    title: 'Too many passkeys',
    fix: 'Remove a passkey that you do not use any more.',
  },
  recovery_code_invalid: {
    status: 400,
    title: 'Recovery code misspelt',
    fix: 'Compare every character with the printed code: six groups of five. This was no attempt.',
  },
  recovery_code_not_found: {
    status: 404,
    title: 'Recovery code not found',
    fix: 'Use the code that was printed last: it works once, and a newer one ends it.',
  },
  recovery_not_found: {
    status: 404,
    title: 'No recovery to undo',
    fix: 'Look at your passkeys: the day of the recovery is over, or it was undone. Remove a passkey that is not yours.',
  },
  during_recovery_not_allowed: {
    status: 400,
    title: 'Not on the day of a recovery',
    fix: 'Read, pause, cancel and decline until then. Was it not you? Undo it on the console with a passkey of before.',
  },
  agent_already_claimed: {
    status: 409,
    title: 'Agent already claimed',
    fix: 'An agent has one owner. Ask the person who claimed it.',
  },
  agent_not_found: { status: 404, title: 'Agent not found', fix: 'Use the id of one of your agents.' },

  // Operator
  operator_disabled: {
    status: 403,
    title: 'Operator routes disabled',
    fix: 'Start the service with OPERATOR_KEY (at least 24 characters), and send it as "Authorization: Bearer <OPERATOR_KEY>".',
  },

  // Skills
  skill_not_found: {
    status: 404,
    title: 'Skill not found',
    fix: 'List the skills with GET /agent/skill/skills.',
  },
  skill_limit_reached: {
    status: 409,
    title: 'Too many skills',
    fix: 'An owner keeps at most 100 skills that wait or are approved; ask the operator to review or refuse some.',
  },
  skill_queue_full: {
    status: 409,
    title: 'Too many pending skills',
    fix: 'Wait until your earlier submissions are reviewed.',
  },

  // Wallets
  venue_credentials_invalid: {
    status: 400,
    title: 'Venue credentials invalid',
    fix: "Create them again by the venue's signed challenge (createOrDeriveApiKey) and register all three values unchanged.",
  },
  wallet_owner_mismatch: {
    status: 400,
    title: 'Wallet does not belong to the key',
    fix: 'Register the EOA that made the venue key, or the proxy, Safe or deposit wallet that the factories derive from it.',
  },
  wallet_limit_reached: {
    status: 409,
    title: 'Too many wallets',
    fix: 'Unlink a wallet that is not used any more: POST /wallet/unlink.',
  },
  wallet_already_registered: {
    status: 409,
    title: 'Wallet already registered',
    fix: "POST /wallet/link with the EOA's signature moves wallet and credential, with what restricts them, to your owner.",
  },
  credential_type_mismatch: {
    status: 400,
    title: 'Credential of another type',
    fix: "Register this wallet's credentials again with signatureType 3, or sign the order for the registered type.",
  },
  invalid_solana_address: {
    status: 400,
    title: 'Invalid Solana address',
    fix: 'Send the base58 text of a 32-byte public key.',
  },
  link_challenge_invalid: {
    status: 400,
    title: 'Challenge unknown, used or expired',
    fix: 'Ask for a new one (GET /wallet/link/challenge, or GET /wallet/credentials/challenge for credentials on paper) and sign its message within five minutes.',
  },
  link_signature_invalid: {
    status: 400,
    title: 'Link signature invalid',
    fix: "Sign the challenge's message unchanged: EIP-191 personal_sign with the wallet's EOA, or Ed25519 with the Solana key.",
  },
  wallet_not_found: {
    status: 404,
    title: 'Wallet not found',
    fix: 'Use a wallet that this agent registered, linked or traded with; register or link another one first, or ask the owner to grant it on the page /owner.',
  },

  wallet_required: {
    status: 400,
    title: 'Wallet required',
    fix: 'Name one of the wallets that the detail lists.',
  },
} as const satisfies Record<string, ErrorRow>;
