/** How bad it is: a shape for each, so that the colour never stands alone. */
import type { Severity as Word } from '../lib/incident-acts.ts'
import { SEVERITY_WORDS } from '../lib/incidents.ts'

/** @param isSaid by a word beside it */
export function Severity({ of, size = 18, isSaid = false }: { of: Word; size?: number; isSaid?: boolean }) {
  return (
    <svg
      className="severity"
      data-role={of}
      width={size}
      height={size}
      viewBox="0 0 18 18"
      {...(isSaid ? { 'aria-hidden': true } : { role: 'img', 'aria-label': SEVERITY_WORDS[of] })}
    >
      <title>{SEVERITY_WORDS[of]}</title>
      {of === 'critical' && <path d="M9 .8 17.2 9 9 17.2.8 9Z" />}
      {of === 'warning' && <path d="M9 1.5 17.4 16.2H.6Z" />}
      {of === 'info' && <circle cx={9} cy={9} r={6.5} strokeWidth={2} />}
      {of !== 'info' && (
        <path
          className="sign"
          d="M9 5.6v4.2M9 12.4v1.2"
          strokeWidth={1.8}
          strokeLinecap="round"
          fill="none"
        />
      )}
    </svg>
  )
}
