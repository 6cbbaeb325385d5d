/** What was found, above its evidence: verdict, claims, next step; or, where nothing was yet, what is happening. */
import { Alert, Button, Modal, Stack } from '@mantine/core'
import { Check, CircleHelp, Copy, X } from 'lucide-react'
import { Fragment, Suspense, useState } from 'react'
import { Link } from 'react-router'
import { textOfMarkdown } from '../../../schemas/plain-text.ts'
import type { CheckedClaim, IncidentDetail } from '../../../schemas/types.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { claimFault } from '../../lib/claim-fault.ts'
import { useCopy } from '../../lib/copy-text.ts'
import { eventPath } from '../../lib/explore-state.ts'
import { runRole, runWords } from '../../lib/incidents.ts'
import { runPath, runTracePath } from '../../lib/paths.ts'
import { moment, money } from '../../lib/time.ts'
import { EventLinks } from '../../parts/event-links.tsx'
import { FindingMarks } from '../../parts/finding-marks.tsx'
import { Grown } from '../../parts/grown.tsx'
import { ClaimsHeld } from '../../parts/incident-row.tsx'
import { MarkdownText } from '../../parts/markdown.tsx'
import { useNow } from '../../parts/use-now.ts'
import { VerdictChip } from '../../parts/verdict-chip.tsx'
import { ClaimList } from '../runs/claim-list.tsx'

/** Claims shown on the page; the note has all. */
const CLAIMS = 4

export function FindingCard({ incident }: { incident: IncidentDetail }) {
  const { result, claims, finding } = incident
  const now = useNow()
  if (!result) return <NoFinding incident={incident} />
  const by = `by ${result.agent}, ${moment(Date.parse(result.at), now, true)}`
  return (
    <section className="card" aria-labelledby="incident-finding">
      <div className="card-head">
        <h2 id="incident-finding">Finding</h2>
        {result.verdict && <VerdictChip of={result.verdict} isFinding={result.kind === 'action'} />}
        {claims && <ClaimsHeld claims={claims} />}
        <span className="push" style={{ fontSize: 13, color: 'var(--text-2)' }}>
          {by}
        </span>
      </div>
      <div style={{ display: 'grid', gap: 8, padding: '0 14px 10px' }}>
        <div className="three-lines">
          <Linked
            text={plainText(finding?.note ?? result.summary) || `${result.headline}.`}
            entity={incident.entity}
          />
        </div>
        {result.next_step && <NextStep text={result.next_step} />}
        {finding && finding.claims.length > 0 && <Claims claims={finding.claims} entity={incident.entity} />}
        <Grown incident={incident.history} run={result.run_id} />
        <Foot incident={incident} />
      </div>
    </section>
  )
}

function NextStep({ text }: { text: string }) {
  const { copied, copy } = useCopy()
  return (
    <div className="next-step">
      <span className="next-word">Next step</span>
      <span>{text}</span>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={copied ? <Check size={13} aria-hidden /> : <Copy size={13} aria-hidden />}
        onClick={() => copy(text, true)}
      >
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  )
}

type Entity = IncidentDetail['entity']

/** Those that do not hold come first. */
function Claims({ claims, entity }: { claims: readonly CheckedClaim[]; entity: Entity }) {
  const sorted = [...claims].sort((a, b) => Number(a.ok) - Number(b.ok)).slice(0, CLAIMS)
  return (
    <ul className="claims-short" aria-label="Claims">
      {sorted.map((claim, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two claims may say the same.
        <li key={i}>
          {claim.ok ? (
            <Check size={14} role="img" aria-label="Holds" color="var(--good)" />
          ) : claim.unproved ? (
            <CircleHelp size={14} role="img" aria-label="Unproved" color="var(--warning)" />
          ) : (
            <X size={14} role="img" aria-label="Does not hold" color="var(--critical)" />
          )}
          <span style={{ overflowWrap: 'anywhere' }}>
            {claim.text}
            {!claim.ok && <b> {claimFault(claim)}</b>}
          </span>
          <span style={{ fontSize: 12 }}>
            <EventLinks ids={claim.events.slice(0, 2)} entity={entity ?? undefined} />
          </span>
        </li>
      ))}
    </ul>
  )
}

function Foot({ incident }: { incident: IncidentDetail }) {
  const [isOpen, setOpen] = useState(false)
  const { result, finding, project, headline } = incident
  if (!result) return null
  const of = result.project ?? project
  return (
    <div style={{ display: 'flex', flexWrap: 'wrap', gap: '4px 16px', alignItems: 'center', fontSize: 13 }}>
      <span style={{ color: 'var(--text-2)' }}>
        {result.chain.join(' → ')}, {result.rounds} {result.rounds === 1 ? 'round' : 'rounds'}
        {result.cost_usd === null ? '' : `, ${money(result.cost_usd)}`}
      </span>
      {finding?.note && (
        <button type="button" className="text-button" onClick={() => setOpen(true)}>
          Full note
        </button>
      )}
      <Link to={runPath(result.run_id)}>Open the run</Link>
      {result.rounds > 0 && <Link to={runTracePath(result.run_id)}>Waterfall</Link>}
      {of && finding && (
        <span style={{ marginLeft: 'auto' }}>
          <FindingMarks project={of} run={result.run_id} mark={finding.mark} name={headline} />
        </span>
      )}
      {finding?.note && (
        <Modal opened={isOpen} onClose={() => setOpen(false)} title={result.headline} size="xl">
          <Stack>
            <MarkdownText text={finding.note} isNested />
            {finding.claims.length > 0 && (
              <ClaimList
                claims={finding.claims}
                entity={incident.entity ?? { label: '', value: incident.key }}
              />
            )}
          </Stack>
        </Modal>
      )}
    </div>
  )
}

/** Seldom there. */
const NoAgent = lazyFrom(() => import('../../parts/no-agent.tsx'))('NoAgent')

function NoFinding({ incident }: { incident: IncidentDetail }) {
  const { run } = incident
  return (
    <section className="card" aria-labelledby="incident-finding">
      <div className="card-head">
        <h2 id="incident-finding">Finding</h2>
        {run ? (
          <>
            <span className="chip" data-role={runRole(run)} role="status">
              {runWords(run)}
            </span>
            <span className="push" style={{ fontSize: 13.5 }}>
              <Link to={runTracePath(run.run_id)}>Waterfall</Link>{' '}
              <Link to={runPath(run.run_id)}>Open the run</Link>
            </span>
          </>
        ) : (
          <Suspense>
            <NoAgent incident={incident} />
          </Suspense>
        )}
      </div>
      {run?.status === 'parked' && (
        <Alert color="yellow" p="xs" m={10} mt={0}>
          The model does not answer. The run resumes at the next try.
        </Alert>
      )}
    </section>
  )
}

/** The start of a note without headings, blocks of code and marks, for three lines of it. */
const plainText = (note: string): string =>
  textOfMarkdown(
    note
      .replace(/```[\s\S]*?```/g, ' ')
      .replace(/^#{1,6}\s+.*$/gm, '')
      .replace(/^\s*>+ ?/gm, ''),
  )

const EVENT = /\b(evt_\d+)\b/

/** Its event ids lead to them. */
function Linked({ text, entity }: { text: string; entity: Entity }) {
  return text.split(EVENT).map((part, i) =>
    EVENT.test(part) ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place.
      <Link key={i} className="mono" to={eventPath(part, entity ?? undefined)}>
        {part}
      </Link>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place.
      <Fragment key={i}>{part}</Fragment>
    ),
  )
}
