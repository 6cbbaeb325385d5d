/** What can be done about an incident, one key each; on a phone at the lower edge, under the thumb. */
import { ActionIcon, Button, Kbd, Menu } from '@mantine/core'
import {
  Check,
  ChevronDown,
  CircleCheck,
  Ellipsis,
  MessageCircleQuestion,
  Moon,
  Play,
  User,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { FiringDetail, IncidentDetail } from '../../../schemas/types.ts'
import { copyText } from '../../lib/copy-text.ts'
import { explorePath } from '../../lib/firings.ts'
import type { Act } from '../../lib/incident-acts.ts'
import { momentOf } from '../../lib/incident-evidence.ts'
import { askPath } from '../../lib/paths.ts'
import { instantReplayPath } from '../../lib/replay-path.ts'
import { snoozeTimes } from '../../lib/snooze.ts'
import { useMay } from '../../parts/may.tsx'

export interface ActsProps {
  incident: IncidentDetail
  firing: FiringDetail | undefined
  /** The firing is being read, and may come. */
  isReading: boolean
  onAct: (act: Act) => void
  /** Takes it, asking for a name first where none is known. */
  onMine: () => void
}

export function ActsBar(props: ActsProps) {
  const { incident, onAct } = props
  const isHandled = incident.state === 'handled'
  const may = useMay('respond')
  return (
    <>
      <section className="acts" aria-label="Acts">
        {may && <Acknowledge {...props} />}
        {may && !isHandled && (
          <>
            <AssignMenu {...props} />
            <SnoozeMenu {...props} />
            <Button
              variant="default"
              leftSection={<CircleCheck size={15} aria-hidden />}
              rightSection={<Kbd size="xs">E</Kbd>}
              onClick={() => onAct({ action: 'handle' })}
            >
              Mark handled
            </Button>
          </>
        )}
        <span className="push" style={{ display: 'flex', gap: 8 }}>
          <AskButton {...props} />
          <ReplayButton {...props} />
          <MoreMenu {...props} />
        </span>
      </section>
      <section className="phone-acts" aria-label="Acts on a phone">
        {may && <Acknowledge {...props} />}
        {may && !isHandled && <SnoozeMenu {...props} />}
        <AskButton {...props} />
        <MoreMenu {...props}>
          {may && !isHandled && (
            <>
              <Menu.Item onClick={() => onAct({ action: 'handle' })}>Mark handled</Menu.Item>
              <Menu.Item onClick={props.onMine}>Assign to me</Menu.Item>
            </>
          )}
        </MoreMenu>
      </section>
    </>
  )
}

/** The act that is due next. */
function Acknowledge({ incident: { state }, onAct }: ActsProps) {
  if (state === 'open')
    return (
      <Button
        leftSection={<Check size={15} aria-hidden />}
        rightSection={<Kbd size="xs">A</Kbd>}
        onClick={() => onAct({ action: 'acknowledge' })}
      >
        Acknowledge
      </Button>
    )
  const [word, act]: [string, Act] =
    state === 'snoozed' ? ['End snooze', { action: 'unsnooze' }] : ['Reopen', { action: 'reopen' }]
  return (
    <Button variant="default" onClick={() => onAct(act)}>
      {word}
    </Button>
  )
}

function Dropdown({ icon, word, children }: { icon: ReactNode; word: string; children: ReactNode }) {
  return (
    <Menu position="bottom-start" withinPortal>
      <Menu.Target>
        <Button variant="default" leftSection={icon} rightSection={<ChevronDown size={14} aria-hidden />}>
          {word}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}

function AssignMenu({ incident, onAct, onMine }: ActsProps) {
  const others = [
    ...new Set(incident.activity.flatMap(({ by, via, assignee }) => (via === 'svc' ? [] : [by, assignee]))),
  ]
    .filter((name): name is string => Boolean(name) && name !== incident.assignee)
    .slice(0, 8)
  return (
    <Dropdown icon={<User size={15} aria-hidden />} word="Assign">
      <Menu.Item onClick={onMine}>Me</Menu.Item>
      {others.map((name) => (
        <Menu.Item key={name} onClick={() => onAct({ action: 'assign', assignee: name })}>
          {name}
        </Menu.Item>
      ))}
      {incident.assignee && (
        <Menu.Item onClick={() => onAct({ action: 'assign', assignee: null })}>Nobody</Menu.Item>
      )}
    </Dropdown>
  )
}

function SnoozeMenu({ onAct }: ActsProps) {
  return (
    <Dropdown icon={<Moon size={15} aria-hidden />} word="Snooze">
      {snoozeTimes(new Date()).map(({ word, until }) => (
        <Menu.Item key={word} onClick={() => onAct({ action: 'snooze', until })}>
          {word}
        </Menu.Item>
      ))}
    </Dropdown>
  )
}

function AskButton({ incident: { number, trigger, entity, headline } }: ActsProps) {
  const question = `What caused incident #${number} (${headline}${entity ? `, ${entity.label}=${entity.value}` : ''}, trigger ${trigger}), and what should be done?`
  return (
    <Button
      component={Link}
      to={askPath(question)}
      variant="default"
      leftSection={<MessageCircleQuestion size={15} aria-hidden />}
    >
      Ask
    </Button>
  )
}

function ReplayButton({ incident: { project, trigger }, firing, isReading }: ActsProps) {
  const of = project ?? firing?.projects[0]
  if (!of || !(firing || isReading)) return null
  const look = { variant: 'default', leftSection: <Play size={15} aria-hidden /> } as const
  // Its place is kept while its firing is read.
  if (!firing)
    return (
      <Button disabled {...look}>
        Replay
      </Button>
    )
  return (
    <Button
      component={Link}
      to={instantReplayPath(of, momentOf(firing), `trigger:${trigger}`, firing.dispatch_id)}
      {...look}
    >
      Replay
    </Button>
  )
}

function MoreMenu({ incident, firing, children }: ActsProps & { children?: ReactNode }) {
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="default" size={36} aria-label="More">
          <Ellipsis size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {children}
        <Menu.Item onClick={() => void copyText(window.location.href)}>Copy link</Menu.Item>
        {firing?.payload != null && (
          <Menu.Item onClick={() => void copyText(firing.payload!)}>Copy timeline</Menu.Item>
        )}
        {incident.entity && firing && (
          <Menu.Item component={Link} to={explorePath(incident.entity, momentOf(firing))}>
            Open in Explore
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
