/**
 * The texts of markets whose outcomes are not called Yes and No. Names are as awkward as those at the venue: long, with
 * apostrophes, with letters beyond ASCII, alike but for a number.
 */
import type { Template } from './catalogue-texts.ts';
import type { OutcomeNames } from './types.ts';

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
