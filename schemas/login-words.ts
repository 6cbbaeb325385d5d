/**
 * What a person compares before approving `svc login`: the command and the console show the same eight
 * characters where both speak of the same login.
 */

/** @param challenge base64url. @returns such as K7QF-2M9X */
export function loginMark(challenge: string): string {
  const marks = challenge.toUpperCase().replace(/[^A-Z0-9]/g, '')
  return `${marks.slice(0, 4)}-${marks.slice(4, 8)}`
}
