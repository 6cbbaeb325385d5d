/** Beside an incident: its state, who was notified, what happened to it, and whether it happened before. */
import { Button, Select, Textarea } from '@mantine/core'
import { Check, CircleAlert, Clock } from 'lucide-react'
import { type FormEvent, useRef, useState } from 'react'
import { Link } from 'react-router'
import type { Delivery, IncidentActivity, IncidentDetail, SlackPostShown } from '../../../schemas/types.ts'
import { setActorName, useActorName } from '../../lib/actor.ts'
import { statusWord } from '../../lib/firings.ts'
import type { Act, Severity as Word } from '../../lib/incident-acts.ts'
import { activityWords, incidentPath, SEVERITY_WORDS, stateWords } from '../../lib/incidents.ts'
import { usePageKeys } from '../../lib/page-keys.ts'
import { agentPath, runPath } from '../../lib/paths.ts'
import { moment } from '../../lib/time.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { Acts, useMay } from '../../parts/may.tsx'
import { NeighbourList } from '../../parts/neighbours.tsx'
import { useNow } from '../../parts/use-now.ts'
import { WhenSeen } from '../../parts/when-seen.tsx'
import { work } from '../../trigger-client.ts'

interface Props {
  incident: IncidentDetail
  /** @returns whether it was done */
  onAct: (act: Act) => Promise<boolean>
  onMine: () => void
}

export function Rail(props: Props) {
  return (
    <aside className="rail" aria-label="About this incident">
      <Status {...props} />
      <Notified {...props.incident} />
      <InSlack posts={props.incident.slack} />
      <Activity {...props} />
      <HappenedBefore {...props} />
      {/* Last: what stands below it would move when they are there. */}
      <EntityNeighbours incident={props.incident} />
    </aside>
  )
}

function Status({ incident, onAct, onMine }: Props) {
  const now = useNow()
  const { entity, key, severity, assignee, project, state } = incident
  const isHandled = state === 'handled'
  const may = useMay('respond')
  return (
    <section className="card" aria-labelledby="rail-status">
      <h2 id="rail-status">Status</h2>
      <dl className="rail-facts">
        <dt>State</dt>
        <dd>{stateWords(incident, now)}</dd>
        <dt>Assigned</dt>
        <dd>
          {assignee ?? 'Nobody'}{' '}
          {!isHandled && may && (
            <button type="button" className="text-button" onClick={onMine}>
              Me
            </button>
          )}
        </dd>
        <dt>Severity</dt>
        <dd>
          <Select
            size="xs"
            aria-label="Severity"
            data={Object.entries(SEVERITY_WORDS).map(([value, label]) => ({ value, label }))}
            value={severity}
            disabled={isHandled || !may}
            allowDeselect={false}
            onChange={(value) => value && onAct({ action: 'severity', severity: value as Word })}
          />
        </dd>
        <dt>Entity</dt>
        <dd>
          {entity ? (
            <Link
              className="mono"
              to={`/explore?${new URLSearchParams({ l: `${entity.label}=${entity.value}` })}`}
            >
              {entity.label}={entity.value}
            </Link>
          ) : (
            key || 'None'
          )}
        </dd>
        {project && (
          <>
            <dt>Project</dt>
            <dd>
              <Link to={`/projects/${project}`}>{incident.project_name ?? project}</Link>
            </dd>
          </>
        )}
      </dl>
      <Acts scope="respond">
        <YourName />
      </Acts>
    </section>
  )
}

/** Acts of this browser are shown with it, unless a key or a proxy says who it is. */
function YourName() {
  const name = useActorName()
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState(name ?? '')
  if (!isOpen)
    return (
      <div style={{ marginTop: 8, fontSize: 12.5, color: 'var(--text-2)' }}>
        {name ? `You act as ${name}. ` : 'You act without a name. '}
        <button type="button" className="text-button" onClick={() => setOpen(true)}>
          {name ? 'Change' : 'Set name'}
        </button>
      </div>
    )
  return (
    <form
      style={{ display: 'flex', gap: 6, marginTop: 8 }}
      onSubmit={(event) => {
        event.preventDefault()
        setActorName(text)
        setOpen(false)
      }}
    >
      <input
        className="plain-input"
        aria-label="Your name"
        value={text}
        maxLength={100}
        // biome-ignore lint/a11y/noAutofocus: it was just asked for.
        autoFocus
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Button size="compact-sm" variant="default" type="submit">
        Save name
      </Button>
    </form>
  )
}

/** What it calls, runs on and is owned by: where the fault may come from, or go to. */
function EntityNeighbours({ incident: { entity, last_fired_at, state } }: { incident: IncidentDetail }) {
  if (!entity) return null
  return (
    <section className="card" aria-labelledby="rail-neighbours">
      <h2 id="rail-neighbours">Neighbours</h2>
      <WhenSeen>
        <NeighbourList
          label={entity.label}
          value={entity.value}
          {...(state === 'handled' ? { to: last_fired_at } : {})}
        />
      </WhenSeen>
    </section>
  )
}

const TONES: Record<Delivery['status'], React.ReactNode> = {
  delivered: <Check size={15} role="img" aria-label="Delivered" color="var(--good)" />,
  failed: <CircleAlert size={15} role="img" aria-label="Failed" color="var(--critical)" />,
  running: <Clock size={15} role="img" aria-label="Sending" color="var(--info)" />,
}

/** The newest to each recipient. */
function Notified({ deliveries, snoozed }: Pick<IncidentDetail, 'deliveries' | 'snoozed'>) {
  const now = useNow()
  const newest = new Map<string, Delivery>()
  for (const one of deliveries) {
    const to = `${one.recipient.kind}:${one.recipient.subscription_id ?? one.recipient.name}`
    if (!newest.has(to)) newest.set(to, one)
  }
  return (
    <section className="card" aria-labelledby="rail-notified">
      <h2 id="rail-notified">Notified</h2>
      {newest.size === 0 && (
        <div className="rail-row">
          {'–'}
          <span>{snoozed ? 'Held back' : 'No subscribers'}</span>
        </div>
      )}
      {[...newest.values()].map((one) => (
        <div className="rail-row" key={one.delivery_id}>
          {TONES[one.status]}
          <div>
            {one.recipient.kind === 'agent' ? (
              <Link to={agentPath(one.recipient.name)}>{one.recipient.name}</Link>
            ) : (
              one.recipient.name
            )}
            <div style={{ color: 'var(--text-2)' }}>
              {statusWord(one)}
              {one.status === 'failed' || one.tries > 1 ? `, attempt ${one.tries} of ${one.max_tries}` : ''}
              {one.delivered_at ? ` ${moment(Date.parse(one.delivered_at), now)}` : ''}
              {one.status !== 'delivered' && one.reason ? `: ${one.reason}` : ''}{' '}
              {one.run_id && (
                <Link
                  to={runPath(one.run_id)}
                  aria-label={`Run of ${one.recipient.name} for ${one.key || one.trigger}`}
                >
                  View run
                </Link>
              )}{' '}
              {one.accepts.includes('redeliver') && one.status === 'failed' && <Retry delivery={one} />}
            </div>
          </div>
        </div>
      ))}
    </section>
  )
}

const POSTED: Readonly<Record<SlackPostShown['kind'], string>> = {
  opened: 'Thread',
  firing: 'Another firing',
  finding: 'Finding',
  activity: 'What people did',
}
const POSTS_SHOWN = 5

/** Links to its messages in Slack, those that head threads first; nothing where there are none. */
function InSlack({ posts }: { posts: readonly SlackPostShown[] }) {
  const now = useNow()
  if (posts.length === 0) return null
  return (
    <section className="card" aria-labelledby="rail-slack">
      <h2 id="rail-slack">In Slack</h2>
      {posts.slice(0, POSTS_SHOWN).map(({ channel, ts, kind, permalink, at, problem }) => (
        <div
          className="rail-row"
          key={`${channel} ${ts}`}
          style={{ gridTemplateColumns: '84px minmax(0, 1fr)' }}
        >
          <time dateTime={at} style={{ color: 'var(--text-2)' }}>
            {moment(Date.parse(at), now)}
          </time>
          <div>
            {permalink ? (
              <a href={permalink} target="_blank" rel="noreferrer">
                {POSTED[kind]}
              </a>
            ) : (
              POSTED[kind]
            )}
            {problem && <div style={{ color: 'var(--text-2)' }}>Not up to date: {problem}</div>}
          </div>
        </div>
      ))}
      {posts.length > POSTS_SHOWN && (
        <div style={{ color: 'var(--text-2)' }}>and {posts.length - POSTS_SHOWN} more in the thread</div>
      )}
    </section>
  )
}

function Retry({ delivery: { delivery_id, recipient } }: { delivery: Delivery }) {
  const again = useChange(() => work.redeliver(delivery_id), {
    failed: 'Couldn’t redeliver',
    said: () => 'Redelivered with the same id',
  })
  return (
    <button
      type="button"
      className="text-button"
      disabled={again.isPending}
      aria-label={`Retry ${recipient.name}`}
      onClick={() => again.mutate(undefined)}
    >
      Retry
    </button>
  )
}

/** Rows shown until more are asked for. */
const SHOWN = 6
/** Of what svc itself did, the words say it all. */
const BY_ITSELF: readonly IncidentActivity['action'][] = ['opened', 'fired', 'woken']

function Activity({ incident: { activity, number }, onAct }: Props) {
  const now = useNow()
  const [isAll, setAll] = useState(false)
  const kept = useDraft({ form: 'note', start: '' })
  const text = kept.value
  const [isSending, setSending] = useState(false)
  const note = useRef<HTMLTextAreaElement>(null)
  usePageKeys([['n', () => note.current?.focus()]])
  const rows = isAll ? activity : activity.slice(0, SHOWN)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (text.trim() === '' || isSending) return
    setSending(true)
    void onAct({ action: 'note', text: text.trim() }).then((isDone) => {
      setSending(false)
      if (isDone) kept.fill('')
    })
  }
  return (
    <section className="card" aria-labelledby="rail-activity">
      <h2 id="rail-activity">Activity</h2>
      {rows.map((row) => (
        <div className="rail-row" key={row.n} style={{ gridTemplateColumns: '84px minmax(0, 1fr)' }}>
          <time dateTime={row.at} style={{ color: 'var(--text-2)' }}>
            {moment(Date.parse(row.at), now)}
          </time>
          <span>
            {!BY_ITSELF.includes(row.action) && !(row.how && row.by === 'svc') && (
              <b>
                {row.by}
                {row.via === 'console' && <span title="Name typed in the console"> (via console)</span>}
                {row.via === 'slack' && <span title="A person of Slack"> (in Slack)</span>}{' '}
              </b>
            )}
            {activityWords(row, now)}
          </span>
        </div>
      ))}
      {activity.length > rows.length && (
        <button type="button" className="text-button" style={{ marginTop: 6 }} onClick={() => setAll(true)}>
          Show {activity.length - rows.length} more
        </button>
      )}
      <Acts scope="respond">
        <form onSubmit={submit} style={{ marginTop: 8 }}>
          <Textarea
            ref={note}
            size="xs"
            aria-label={`Note on #${number}`}
            placeholder="Add a note (N)"
            autosize
            minRows={1}
            maxRows={6}
            maxLength={4_000}
            value={text}
            readOnly={isSending}
            onChange={(event) => kept.set(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && !event.shiftKey) submit(event)
            }}
          />
          {text.trim() !== '' && (
            <Button size="compact-sm" variant="default" mt={6} type="submit" loading={isSending}>
              Add note
            </Button>
          )}
        </form>
      </Acts>
    </section>
  )
}

function HappenedBefore({ incident: { happened_before } }: Props) {
  const now = useNow()
  const { count, days, incidents } = happened_before
  return (
    <section className="card" aria-labelledby="rail-before">
      <h2 id="rail-before">Happened before</h2>
      <div style={{ marginTop: 6, fontSize: 13 }}>
        {count === 0 ? `Not in ${days} days.` : `${count} ${count === 1 ? 'time' : 'times'} in ${days} days.`}
      </div>
      {incidents.map((one) => (
        <div key={one.id} style={{ marginTop: 6, fontSize: 13, overflowWrap: 'anywhere' }}>
          <Link to={incidentPath(one)}>
            #{one.number} {one.headline}
          </Link>
          <div style={{ color: 'var(--text-2)' }}>
            {moment(Date.parse(one.opened_at), now)}
            {one.handled &&
              `, ${stateWords({ ...one, state: 'handled', assignee: null, acknowledged: null, snoozed: null }, now).toLowerCase()}`}
            {(one.note ?? one.next_step) && `: ${one.note ?? one.next_step}`}
          </div>
        </div>
      ))}
    </section>
  )
}
