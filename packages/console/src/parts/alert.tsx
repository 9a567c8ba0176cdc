/** One alert of an agent: how bad it is, and the market that it is about. */
import type { RiskAlert } from '@bellwether/contract';
import { Link } from '../desk/router.tsx';
import { Badge } from './pieces.tsx';

const KINDS: Readonly<Record<string, 'stop' | 'warn'>> = { critical: 'stop', warning: 'warn' };

export const Severity = ({ severity }: Pick<RiskAlert, 'severity'>) => (
  <Badge kind={KINDS[severity] ?? ''}>{severity}</Badge>
);

export const AlertText = ({
  message,
  marketId,
}: {
  readonly message: string;
  readonly marketId?: string | undefined;
}) => (
  <>
    {message}{' '}
    {marketId !== undefined && <Link to={`/markets/${encodeURIComponent(marketId)}`}>The market</Link>}
  </>
);
