/** The verdict of a run, which has one look on every page. */

/** @param isFinding whether something is to be done: such a verdict stands out */
export const VerdictChip = ({ of, isFinding }: { of: string; isFinding: boolean }) => (
  <span className="chip" data-role={isFinding ? 'verdict' : undefined}>
    {of}
  </span>
)
