/**
 * The words of the paper world. Every country, club, company and token is made up, so that no paper market can be
 * taken for news. `{list}` stands for a name of that list (`{list2}` for another one), `{3-9}` for a number.
 */
import type { Category, OutcomeNames } from './markets.ts';

export interface Template {
  readonly question: string;
  readonly title: string;
  /** Condition that has to be true at the end date for YES. */
  readonly rules: string;
  /** `fast` suits markets that end within hours, `slow` longer ones; neither: both. `blitz`: minutes, and nothing else. */
  readonly pace?: 'blitz' | 'fast' | 'slow';
}

export interface ContestTemplate {
  readonly category: Category;
  readonly title: string;
  /** `{option}` is the contestant. */
  readonly question: string;
  readonly rules: string;
  readonly options: string;
  /** Text for the last market of the event, where that one is for everything that has no market of its own. */
  readonly other?: { readonly question: string; readonly rules: string };
}

export const USUAL_WORDS: Readonly<Record<string, readonly string[]>> = {
  country: [
    'Arvenia',
    'Belmora',
    'Castria',
    'Dunmark',
    'Ostravale',
    'Feldland',
    'Galdria',
    'Halvonia',
    'Ister Republic',
    'Jorland',
    'Kestria',
    'Lorvania',
  ],
  city: [
    'Port Merrow',
    'Calder Bay',
    'Highmoor',
    'Santa Brisa',
    'Eastmere',
    'Kingsford Quay',
    'Lowen',
    'Tarn City',
    'Veldhaven',
    'Windrush',
  ],
  team: [
    'Harbour City',
    'North Vale',
    'Calder United',
    'Eastmere Rovers',
    'Tarn Athletic',
    'Highmoor Wolves',
    'Port Merrow Mariners',
    'Santa Brisa',
    'Windrush Albion',
    'Veldhaven',
    'Lowen Lions',
    'Kingsford Town',
    'Granite Hill',
    'Silverlake',
  ],
  league: ['Aurora League', 'Meridian Cup', 'Continental Shield', 'Twelve Rivers Championship'],
  party: [
    'Civic Union',
    'Green Assembly',
    'Liberal Front',
    'National Harvest Party',
    'Progress Alliance',
    'Social Compact',
    'Reform List',
    'Coastal Bloc',
  ],
  token: [
    'Corvid (CVD)',
    'Halcyon (HAL)',
    'Nimbus (NMB)',
    'Quartz (QTZ)',
    'Solstice (SLS)',
    'Tessera (TSR)',
    'Umbra (UMB)',
  ],
  index: ['Calder 100', 'Meridian Composite', 'Northern Industrials', 'Ister 40', 'Harbour Small Cap'],
  company: [
    'Lumen Foundry',
    'Quillon Systems',
    'Brightwater Energy',
    'Hollis & Vane',
    'Marrow Robotics',
    'Peregrine Freight',
    'Saffron Foods',
    'Tidewell Semiconductors',
  ],
  lab: ['Anselm Labs', 'Deepfield Research', 'Kite Intelligence', 'Orrery', 'Palimpsest AI', 'Wayfinder'],
  product: [
    'a foldable tablet',
    'a home robot',
    'a satellite phone',
    'an open-weights model',
    'smart glasses',
  ],
  film: ['The Glass Orchard', 'Night Ferry', 'Salt and Iron', 'The Last Cartographer', 'Paper Lanterns'],
  award: ['Golden Lantern', 'Meridian Prize', 'Silver Quill', 'Critics’ Circle Award'],
  band: ['The Copper Foxes', 'Velvet Meridian', 'Low Tide Choir', 'Parallel Static', 'Mira & the Hours'],
  bank: [
    'Central Bank of Arvenia',
    'Bank of Belmora',
    'Castrian Reserve',
    'Dunmark Central Bank',
    'Kestrian Monetary Authority',
  ],
  river: ['the Tarn', 'the Upper Ister', 'the Merrow', 'the Calder', 'the Windrush'],
  storm: ['Storm Alder', 'Storm Bryn', 'Storm Cedar', 'Storm Dahl', 'Storm Elm', 'Storm Fenn'],
};

const politics: readonly Template[] = [
  {
    question: 'Will the {party} lead the next {country} poll of polls?',
    title: '{country}: next poll of polls',
    rules:
      'the {party} has the highest share in the {country} poll of polls published last before the end date',
  },
  {
    question: 'Will {country}’s budget bill pass its {2-3}. reading this session?',
    title: '{country} budget',
    rules: 'the parliament of {country} adopts the budget bill in the named reading before the end date',
  },
  {
    question: 'Will the {party} enter a governing coalition in {country}?',
    title: '{country} coalition talks',
    rules: 'the {party} signs a coalition agreement and names at least one minister of {country}',
  },
  {
    question: 'Will turnout in {country}’s regional vote exceed {48-72}%?',
    title: '{country} regional vote: turnout',
    rules: 'the electoral office of {country} reports a turnout above the named share',
  },
  {
    question: 'Will {city} approve the harbour tunnel referendum with more than {46-58}%?',
    title: '{city} referendum',
    rules: 'the certified YES share of the {city} referendum exceeds the named share',
  },
];

const sports: readonly Template[] = [
  {
    question: '{league}, round {4-34}: will {team} beat {team2}?',
    title: '{league}: {team} – {team2}',
    rules: '{team} has scored more than {team2} after regular time; a draw or an abandoned match resolves NO',
  },
  {
    question: 'Will {team} – {team2} have more than {1-4}.5 goals?',
    title: '{league}: {team} – {team2}, total goals',
    rules: 'the two sides together score more than the named number of goals in regular time',
  },
  {
    question: 'Will {team} keep a clean sheet against {team2}?',
    title: '{league}: {team} – {team2}, clean sheet',
    rules: '{team2} does not score in regular time',
  },
  {
    question: 'Will {team} finish the {league} in the top {3-6}?',
    title: '{league}: final table',
    rules: '{team} stands at or above the named place when the season’s table is final',
    pace: 'slow',
  },
];

const crypto: readonly Template[] = [
  {
    question: 'Will {token} end minute {1000-9999} above where it stands now?',
    title: '{token} in two minutes',
    rules:
      'the reference price of {token} at the end date, two minutes after listing, is above the one at listing',
    pace: 'blitz',
  },
  {
    question: '{token} up or down: will it close this session (no. {1000-9999}) higher?',
    title: '{token} up or down',
    rules: 'the reference price of {token} at the end date is above the one at listing',
    pace: 'fast',
  },
  {
    question: 'Will {token} trade above {120-980} before session {1000-9999} ends?',
    title: '{token} above the mark',
    rules: 'any one-minute reference price of {token} before the end date exceeds the named value',
  },
  {
    question: 'Will {token} gain more on {token2} than {2-9}% in this window?',
    title: '{token} against {token2}',
    rules:
      'the ratio of both reference prices rises by more than the named share between listing and end date',
  },
  {
    question: 'Will {token} activate its “{city}” upgrade on schedule?',
    title: '{token} upgrade',
    rules: 'the upgrade is active on the main network of {token} at the end date',
    pace: 'slow',
  },
];

const finance: readonly Template[] = [
  {
    question: 'Will the {index} be higher at the close of interval {100-999}?',
    title: '{index} up or down',
    rules: 'the {index} stands higher at the end date than at listing',
    pace: 'fast',
  },
  {
    question: 'Will the {index} close above {1200-8800} points?',
    title: '{index} close',
    rules: 'the last official close of the {index} before the end date is above the named level',
  },
  {
    question: 'Will {company} beat the consensus on earnings per share?',
    title: '{company} earnings',
    rules: '{company} reports adjusted earnings per share above the published consensus',
    pace: 'slow',
  },
  {
    question: 'Will {company} announce a share buy-back of at least {1-9}% of its capital?',
    title: '{company} buy-back',
    rules: '{company} announces a programme of at least the named size before the end date',
    pace: 'slow',
  },
];

const economics: readonly Template[] = [
  {
    question: 'Will the {bank} cut its policy rate at the next meeting?',
    title: '{bank}: next decision',
    rules: 'the {bank} announces a lower policy rate at its first scheduled meeting after listing',
  },
  {
    question: 'Will {country}’s annual inflation come in below {1-6}.{1-9}%?',
    title: '{country} inflation',
    rules: 'the first release of {country}’s yearly consumer price inflation is below the named rate',
  },
  {
    question: 'Will unemployment in {country} fall below {3-8}.{1-9}%?',
    title: '{country} labour market',
    rules: 'the next published unemployment rate of {country} is below the named rate',
  },
  {
    question: 'Will {country} report quarterly growth above 0.{1-9}%?',
    title: '{country} growth',
    rules: 'the first estimate of {country}’s quarterly output growth exceeds the named rate',
  },
];

const tech: readonly Template[] = [
  {
    question: 'Will {lab} top the public reasoning leaderboard?',
    title: 'Reasoning leaderboard',
    rules: 'a model of {lab} holds the first place of the leaderboard at the end date',
  },
  {
    question: 'Will {company} launch {product}?',
    title: '{company} launch',
    rules: '{company} takes orders for {product} from the public before the end date',
  },
  {
    question: 'Will {lab} publish a model that scores {71-96} or more on the Meridian exam?',
    title: 'Meridian exam: {lab}',
    rules: 'the exam’s keeper confirms a score of at least the named points for a model of {lab}',
  },
  {
    question: 'Will {company} suffer a public outage of more than {2-12} hours?',
    title: '{company} outage',
    rules: 'the status page of {company} shows an outage longer than the named number of hours',
  },
];

const culture: readonly Template[] = [
  {
    question: 'Will “{film}” win the {award}?',
    title: '{award}',
    rules: 'the jury of the {award} names “{film}” as a winner in any main category',
  },
  {
    question: 'Will “{film}” sell more than {2-30} million tickets?',
    title: '“{film}” at the box office',
    rules: 'the distributors’ count for “{film}” exceeds the named number before the end date',
  },
  {
    question: 'Will {band} reach number one with the next single?',
    title: '{band}: next single',
    rules: '{band} leads the official singles chart in any week before the end date',
  },
  {
    question: 'Will {band} announce a concert in {city}?',
    title: '{band} in {city}',
    rules: '{band} or its promoter announces a dated concert in {city} before the end date',
  },
];

const weather: readonly Template[] = [
  {
    question: 'Will {city} reach {19-38} °C today or before bulletin {100-999}?',
    title: 'Temperature in {city}',
    rules: 'the official station of {city} records at least the named temperature before the end date',
  },
  {
    question: 'Will more than {2-45} mm of rain fall in {city} before bulletin {100-999}?',
    title: 'Rain in {city}',
    rules: 'the official station of {city} records more than the named rainfall between listing and end date',
  },
  {
    question: 'Will {storm} make landfall near {city}?',
    title: '{storm}',
    rules: 'the weather service puts the landfall of {storm} within 100 km of {city}',
  },
  {
    question: 'Will {river} rise above {3-9}.{1-9} metres at {city}?',
    title: 'Water level at {city}',
    rules: 'the gauge at {city} shows a level above the named one before the end date',
  },
];

const geopolitics: readonly Template[] = [
  {
    question: 'Will {country} and {country2} sign the fisheries accord?',
    title: '{country}–{country2} fisheries accord',
    rules: 'both governments sign the accord before the end date',
  },
  {
    question: 'Will {country} reopen its border with {country2}?',
    title: '{country}–{country2} border',
    rules: 'at least one crossing between both countries is open to travellers at the end date',
  },
  {
    question: 'Will {country} join the {city} Treaty?',
    title: '{city} Treaty',
    rules: '{country} deposits its instrument of accession before the end date',
  },
  {
    question: 'Will {country} lift its tariffs on {country2}?',
    title: 'Tariffs: {country} on {country2}',
    rules: '{country} ends all additional tariffs on goods from {country2} before the end date',
  },
];

export const TEMPLATES: Readonly<Record<Category, readonly Template[]>> = {
  Politics: politics,
  Sports: sports,
  Crypto: crypto,
  Finance: finance,
  Economics: economics,
  Tech: tech,
  Culture: culture,
  Weather: weather,
  Geopolitics: geopolitics,
};

export const CONTESTS: readonly ContestTemplate[] = [
  {
    category: 'Sports',
    title: '{league}: who wins the title of season {14-88}?',
    question: 'Will {option} win the {league} in season {14-88}?',
    rules: '{option} is declared champion of the season',
    options: 'team',
  },
  {
    category: 'Politics',
    title: '{country}: largest party after election no. {12-60}',
    question: 'Will the {option} be the largest party in {country} after election no. {12-60}?',
    rules:
      'the {option} wins the most seats of {country}’s parliament; a tie goes to the larger share of votes',
    options: 'party',
  },
  {
    category: 'Culture',
    title: '{award}: who takes prize no. {12-60}?',
    question: 'Will “{option}” take prize no. {12-60} of the {award}?',
    rules:
      'the jury of the {award} gives prize no. {12-60} to “{option}”; a shared one goes to the older of the two',
    options: 'film',
    other: {
      question: 'Will “Other” take prize no. {12-60} of the {award}?',
      rules:
        'the jury of the {award} gives prize no. {12-60} to a title that has no market of its own in this event, or to none',
    },
  },
];

// The texts of markets whose outcomes are not called Yes and No. Names are as awkward as those at the venue: long, with
// apostrophes, with letters beyond ASCII, alike but for a number.

/** Of a slot: what its two sides are. */
export type NamedKind = 'teams' | 'players' | 'candidates' | 'total' | 'price' | 'index';

export interface NamedTemplate extends Template {
  /** YES's first: it is what `rules` speak of. */
  readonly names: OutcomeNames;
}

export const NAMED_WORDS = {
  squad: [
    'FaVe',
    'illwind',
    "D'Arvano Esports",
    'São Merro',
    'Team Überholt',
    '9 Lives',
    'Kingsford Quay & Port Merrow United Gaming Collective',
    'nomad.five',
  ],
  person: [
    "Niamh O'Dorrain",
    'José Ángel Peñalba',
    'Łukasz Brzękowski',
    'Anne-Sophie van der Waalkens-Thorbergsdóttir',
    'Mira Castellan',
    'Odo Ferrand',
    'Tamsin Ackerley',
    'Ingvar Holmsund',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export const NAMED_TEMPLATES: Readonly<Record<NamedKind, readonly NamedTemplate[]>> = {
  teams: [
    {
      question: '{squad} vs {squad2} (BO3), match {100-999}',
      title: '{league}: {squad} vs {squad2}',
      rules: '{squad} wins more maps of the match than {squad2}',
      names: ['{squad}', '{squad2}'],
    },
    {
      question: 'Map Handicap: {squad} (-1.5) vs {squad2} (+1.5), match {100-999}',
      title: '{league}: {squad} vs {squad2}, map handicap',
      rules: '{squad} wins two maps more of the match than {squad2}',
      names: ['{squad}', '{squad2}'],
    },
  ],
  players: [
    {
      question: '{city} Open, round {2-6}: {person} vs {person2}',
      title: '{city} Open: {person} vs {person2}',
      rules: '{person} reaches the next round, by whatever result',
      names: ['{person}', '{person2}'],
    },
  ],
  candidates: [
    {
      question: 'Who is ahead in the run-off in {city}: {person} or {person2}?',
      title: '{city}: run-off for mayor',
      rules: '{person} has more certified votes than {person2}; a tie goes to the elder',
      names: ['{person}', '{person2}'],
    },
  ],
  total: [
    {
      question: '{team} vs {team2}: O/U {1-4}.5',
      title: '{league}: {team} vs {team2}, goals over or under',
      rules: 'the two sides together score more than {1-4}.5 goals in regular time',
      names: ['Over', 'Under'],
    },
    {
      question: '{team} vs {team2}: corners over or under {6-12}.5',
      title: '{league}: {team} vs {team2}, corners',
      rules: 'the two sides together take more than {6-12}.5 corners in regular time',
      names: ['Over {6-12}.5', 'Under {6-12}.5'],
    },
  ],
  price: [
    {
      question: '{token} Up or Down, session {1000-9999}',
      title: '{token} Up or Down',
      rules: 'the reference price of {token} at the end date is greater than or equal to the one at listing',
      names: ['Up', 'Down'],
    },
  ],
  index: [
    {
      question: '{index} Up or Down, interval {100-999}',
      title: '{index} Up or Down',
      rules: 'the {index} stands at least as high at the end date as at listing',
      names: ['Up', 'Down'],
    },
  ],
};
