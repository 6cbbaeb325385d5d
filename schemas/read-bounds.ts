/** Bounds of reads that whoever shows an answer has to know, too. */

/** Events that a read by a text, a number or the value of an entity looks at before it says how far it came and gives a cursor. */
export const SCANNED_MAX = 100_000
