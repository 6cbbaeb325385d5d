/** What many answers to one body say that should be known although it is stored. */

/** One answer tells so many kinds of notices at most. */
const FORMS_MAX = 4
/** A value that a notice quotes. Notices that differ in it alone say the same. */
const QUOTED = /"(?:[^"\\]|\\.)*"/g

/** Gathers the notices of the parts of a body: each kind is told once, by its first. */
export class Notices {
  private readonly byForm = new Map<string, string>()

  /** @param notice of one part; absent: it has none. */
  add(notice: string | undefined): void {
    if (notice === undefined || this.byForm.size >= FORMS_MAX) return
    const form = notice.replaceAll(QUOTED, '""')
    if (![...this.byForm.keys()].some((told) => told.includes(form))) this.byForm.set(form, notice)
  }

  /** @returns undefined where no part had one. */
  said(): string | undefined {
    return this.byForm.size === 0 ? undefined : [...this.byForm.values()].join(' ')
  }
}
