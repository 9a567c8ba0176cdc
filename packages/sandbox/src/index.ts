/** The public interface of the quote venue's sandbox. The rest of the package is private. */
export {
  ALL_SANDBOX_DOORS,
  type DoorGuard,
  MAX_PARAM_CHARS,
  openSandbox,
  type PreparedSandbox,
  prepareSandbox,
  type RpcAnswer,
  registerSandboxDoors,
  SANDBOX_PATHS,
  SANDBOX_SCHEMA,
  type Sandbox,
  type SandboxDoors,
  type SandboxOptions,
  type SandboxRequest,
  type SandboxResponse,
  type Switches,
} from './sandbox.ts';
