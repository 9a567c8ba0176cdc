/** The exchange's weekly maintenance: Thursdays 03:00 to 05:00 New York time, in all seasons. Reference §2.10. */

const ZONE = 'America/New_York';
const DAY = 'Thu';
const FROM_HOUR = 3;
const TO_HOUR = 5;

const HOUR_MS = 3_600_000;

/** @param at epoch milliseconds @returns when the maintenance that goes on ends; `null`: none does */
export function maintenanceEnd(at: number): number | null {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: ZONE,
    weekday: 'short',
    hour: 'numeric',
    hourCycle: 'h23',
  }).formatToParts(at);
  const partOf = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  const hour = Number(partOf('hour'));
  if (partOf('weekday') !== DAY || hour < FROM_HOUR || hour >= TO_HOUR) return null;
  // New York is whole hours from UTC, and its clocks change on Sundays.
  return at - (at % HOUR_MS) + (TO_HOUR - hour) * HOUR_MS;
}
