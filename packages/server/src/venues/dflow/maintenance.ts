/** The exchange's weekly maintenance: Thursdays 03:00 to 05:00 New York time, in all seasons. Reference §2.10. */

const ZONE = 'America/New_York';
const DAY = 'Thu';
const FROM_HOUR = 3;
const TO_HOUR = 5;

/** @param at epoch milliseconds */
export function isMaintenance(at: number): boolean {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: ZONE,
    weekday: 'short',
    hour: 'numeric',
    hourCycle: 'h23',
  }).formatToParts(at);
  const partOf = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  const hour = Number(partOf('hour'));
  return partOf('weekday') === DAY && hour >= FROM_HOUR && hour < TO_HOUR;
}
