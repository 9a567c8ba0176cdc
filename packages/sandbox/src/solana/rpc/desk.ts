/** A call of the desk to the chain: a door's answer, without HTTP and JSON text. */
import { type RpcAnswer, type SandboxChain, SandboxChainUnavailable } from '../types.ts';
import { answerAsk } from './answer.ts';

/** @throws anything that is not an answer of a node */
export async function askChain(
  chain: Pick<SandboxChain, 'ask' | 'blocks'>,
  method: string,
  params: readonly unknown[],
): Promise<RpcAnswer> {
  try {
    // The most frequent question needs no thread.
    return method === 'getBlockHeight' ? { result: chain.blocks().slot } : await chain.ask(method, params);
  } catch (error) {
    if (!(error instanceof SandboxChainUnavailable)) throw error;
    const find = () => {
      throw error;
    };
    return answerAsk(method, params, { find, onFault: () => {} });
  }
}
