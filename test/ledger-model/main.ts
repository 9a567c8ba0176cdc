/**
 * npm run simulate:ledger: random trades between wallets, failed settlements and redemptions, in memory. What must hold of money and shares
 * is asked after every operation; `--help` names the options.
 */
import { type Fill, holdingKey } from '@bellwether/contract/positions';
import { CommandOptions } from '../command-options.ts';
import { Random } from '../simulation/random.ts';
import { shrink } from '../simulation/shrink.ts';
import { Ledger } from './ledger.ts';

const HELP = `npm run simulate:ledger -- [--operations N] [--seed N]

Trades between wallets, failed settlements and redemptions, folded into positions.
Ends with 1 when money or shares are not conserved, and prints the shortest list of operations that does it.

  --operations N  how many (default 1000000)
  --seed N        decides all of them (default 1)
  --help          this text
`;

/** Operations of one world, which is short enough to be shortened. */
const WORLD = 400;
const WALLETS = 4;
const MINUTE_MS = 60_000;
const NAMES = Array.from({ length: WALLETS }, (_, nth) => `wallet ${nth + 1}`);

/** A trade between two wallets, or one that failed, or the end of a position. */
interface Operation {
  readonly kind: 'trade' | 'fail' | 'redeem';
  readonly buyer: number;
  readonly seller: number;
  readonly size: bigint;
  readonly cost: bigint;
  readonly fee: bigint;
  /** The latest of those that may fail. */
  readonly back: number;
}

function operationsOf(seed: number): readonly Operation[] {
  const random = new Random(seed, 20);
  return Array.from({ length: WORLD }, () => {
    const draw = random.share();
    const size =
      draw < 0.1 ? 1n : BigInt(1 + random.below(20)) * (random.share() < 0.5 ? 1_000_000n : 333_333n);
    const buyer = random.below(WALLETS);
    return {
      kind: draw < 0.85 ? 'trade' : draw < 0.97 ? 'fail' : 'redeem',
      ...{ buyer, seller: (buyer + 1 + random.below(WALLETS - 1)) % WALLETS, size },
      ...{ cost: (size * BigInt(1 + random.below(9_999))) / 10_000n, fee: BigInt(random.below(40_000)) },
      back: random.below(6),
    };
  });
}

const tokenOf = (wallet: string) => ({
  wallet,
  conditionId: 'market',
  tokenId: 'token',
  outcome: 'YES' as const,
});

interface Trade {
  readonly bought: Fill;
  readonly sold: Fill | null;
}

/** @returns a sentence when something does not hold */
function play(operations: readonly Operation[]): string | null {
  const agents = new Map<string, string>();
  const ledger = new Ledger((orderId) => agents.get(orderId) ?? null);
  // The real events, by other means than the ledger's.
  const money = new Map(NAMES.map((name) => [name, 0n]));
  const shares = new Map(NAMES.map((name) => [name, 0n]));
  let venue = 0n;
  let house = { money: 0n, shares: 0n };
  let trades: Trade[] = [];
  const move = (wallet: string, { side, size, cost, fee }: Fill, sign: bigint): void => {
    const buys = side === 'BUY' ? 1n : -1n;
    money.set(wallet, (money.get(wallet) as bigint) - sign * (buys * cost + fee));
    shares.set(wallet, (shares.get(wallet) as bigint) + sign * buys * size);
    venue += sign * fee;
  };
  const own = (nth: number): string => NAMES[nth] as string;
  for (const [nth, operation] of operations.entries()) {
    const at = nth * MINUTE_MS;
    const { kind, size, cost, fee } = operation;
    const [buyer, seller] = [own(operation.buyer), own(operation.seller)];
    const fill = (wallet: string, side: Fill['side'], own: bigint): Fill => {
      const orderId = `${nth} ${side}`;
      agents.set(orderId, wallet);
      return {
        ...tokenOf(wallet),
        ...{ orderId, tradeId: nth, side, price: 5_000, size, cost, fee: own, at },
        ...{ liquidity: 'taker', matchKind: 'LIVE' },
      };
    };
    if (kind === 'trade') {
      const held = shares.get(seller) as bigint;
      const bought = fill(buyer, 'BUY', fee);
      // Who holds nothing sells nothing: then the house does.
      const sold = held >= size ? fill(seller, 'SELL', 0n) : null;
      move(buyer, bought, 1n);
      ledger.take({ kind: 'fills', fills: [bought] });
      if (sold === null) house = { money: house.money + cost, shares: house.shares - size };
      else {
        move(seller, sold, 1n);
        ledger.take({ kind: 'fills', fills: [sold] });
      }
      trades.push({ bought, sold });
    } else if (kind === 'fail') {
      const trade = trades.at(-1 - operation.back);
      // As at a venue: nothing is taken back that is not there.
      if (trade === undefined || (shares.get(trade.bought.wallet) as bigint) < trade.bought.size) continue;
      trades = trades.filter((one) => one !== trade);
      for (const one of [trade.bought, trade.sold]) {
        if (one === null) continue;
        move(one.wallet, one, -1n);
        ledger.take({ kind: 'reversal', key: holdingKey(one), fills: [one], at });
      }
      if (trade.sold === null)
        house = { money: house.money - trade.bought.cost, shares: house.shares + trade.bought.size };
    } else {
      const all = shares.get(buyer) as bigint;
      if (all === 0n) continue;
      const redeemed = { ...fill(buyer, 'SELL', 0n), size: all, cost: all };
      move(buyer, redeemed, 1n);
      ledger.take({ kind: 'fills', fills: [redeemed] });
      house = { money: house.money - all, shares: house.shares + all };
    }
    const fault = faultOf(ledger, money, shares, venue, house);
    if (fault !== null) return `after operation ${nth + 1}: ${fault}`;
  }
  return null;
}

const sum = (items: Iterable<bigint>): bigint => [...items].reduce((all, one) => all + one, 0n);

function faultOf(
  ledger: Ledger,
  money: ReadonlyMap<string, bigint>,
  shares: ReadonlyMap<string, bigint>,
  venue: bigint,
  house: { readonly money: bigint; readonly shares: bigint },
): string | null {
  if (sum(money.values()) + venue + house.money !== 0n) return 'money is not conserved';
  if (sum(shares.values()) + house.shares !== 0n) return 'shares are not conserved';
  for (const wallet of NAMES) {
    const { size, cost, realized, fees, boughtSize, boughtCost } = ledger.position(tokenOf(wallet));
    if (size < 0n || cost < 0n) return `${wallet} has a negative position`;
    if (size === 0n && cost !== 0n) return `${wallet} holds nothing, at a cost of ${cost}`;
    if (size !== shares.get(wallet))
      return `${wallet} holds ${shares.get(wallet)}, and the ledger says ${size}`;
    if (cost > boughtCost || size > boughtSize) return `${wallet} holds more than it has bought`;
    // Won and lost so far, less what the shares have cost that are left, is what came in less what went out.
    if (realized - fees - cost !== money.get(wallet))
      return `${wallet} has ${money.get(wallet)}, and the ledger makes ${realized - fees - cost}`;
    const counted = ledger.results.get(wallet) ?? { realized: 0n, fees: 0n, wins: 0, losses: 0 };
    if (counted.realized !== realized || counted.fees !== fees)
      return `the results of ${wallet} are not those of its position`;
    if (counted.wins < 0 || counted.losses < 0) return `${wallet} has won or lost less than never`;
  }
  return null;
}

async function main(args: readonly string[]): Promise<number> {
  const options = new CommandOptions(args, ['operations', 'seed', 'help']);
  const operations = options.whole('operations', 1_000_000, [1, 1_000_000_000]);
  const seed = options.whole('seed', 1, [0, 2 ** 31]);
  if (options.has('help')) {
    console.log(HELP);
    return 0;
  }
  if (options.sentences.length > 0) {
    for (const sentence of options.sentences) console.error(sentence);
    console.error('npm run simulate:ledger -- --help names the options.');
    return 2;
  }
  const begun = performance.now();
  for (let done = 0; done < operations; done += WORLD) {
    const own = seed + done / WORLD;
    const all = operationsOf(own);
    if (play(all) === null) continue;
    const short = await shrink(all, async (some) => play(some) !== null);
    console.log(`Seed ${own}: ${play(short)}. ${short.length} of ${all.length} operations are left:`);
    for (const [nth, { kind, buyer, seller, size, cost, fee, back }] of short.entries())
      console.log(
        kind === 'fail'
          ? `  ${nth + 1}. trade ${back + 1} from the last fails to settle`
          : kind === 'redeem'
            ? `  ${nth + 1}. ${NAMES[buyer]} redeems what it holds`
            : `  ${nth + 1}. ${NAMES[buyer]} buys ${size} for ${cost} and a fee of ${fee} from ${NAMES[seller]}`,
      );
    return 1;
  }
  const seconds = (performance.now() - begun) / 1_000;
  console.log(
    `${Math.ceil(operations / WORLD) * WORLD} operations from seed ${seed}: money and shares are conserved; ${Math.round(seconds)} s, ${Math.round(operations / seconds)} operations per second`,
  );
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
