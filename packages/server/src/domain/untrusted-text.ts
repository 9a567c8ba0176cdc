/** Text written by strangers, made harmless to print and to read: no control characters, no hidden ones, bounded. */

/** Control, format (directional and invisible) and surrogate characters become spaces. Length in code points. */
export function plainText(text: string, maxChars: number): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ');
  return plain.length <= maxChars ? plain : [...plain].slice(0, maxChars).join('');
}
