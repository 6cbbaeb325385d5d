/** A project as it was at any instant of what happened: the graph, the player, and what belongs to them. */
import { Button, Group, Loader, Tabs, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { FlaskConical, Link2 } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import { Link, useParams, useSearchParams } from 'react-router'
import type { Replay } from '../../schemas/types.ts'
import { runPath } from '../lib/runs.ts'
import { useStillHere } from '../lib/use-still-here.ts'
import { PageHead } from '../parts/page.tsx'
import { Empty, Failed } from '../parts/states.tsx'
import { type Address, PANELS, type Panel, placeOf, readAddress, writeAddress } from './address.ts'
import { WhatIf } from './fork/what-if.tsx'
import { ConfigurationPanel } from './panels/configuration-panel.tsx'
import { MomentsPanel } from './panels/moments-panel.tsx'
import { RunPanel } from './panels/run-panel.tsx'
import { TimelinePanel } from './panels/timeline-panel.tsx'
import { WhyPanel } from './panels/why-panel.tsx'
import { PlayerBar } from './player/player-bar.tsx'
import { type Playing, usePlayer } from './player/use-player.ts'
import { RangePicker } from './range-picker.tsx'
import { Stage } from './stage.tsx'
import { type ReplayPages, useReplay } from './use-replay.ts'
import '../styles/replay.css'

export default function ReplayPage() {
  const { id = '' } = useParams()
  const [query] = useSearchParams()
  const address = readAddress(query)
  return <OfSubject key={`${id} ${JSON.stringify(address.subject)}`} project={id} address={address} />
}

function OfSubject({ project, address }: { project: string; address: Address }) {
  // What the address said when the page was opened; afterwards the page tells the address.
  const [opened] = useState(address)
  const pages = useReplay(project, opened.subject, opened.at)
  const { replay, error } = pages
  if (replay === null)
    return (
      <>
        <PageHead title="Replay">
          <RangePicker project={project} label="Another span" />
        </PageHead>
        {error ? <Failed error={error} onRetry={pages.retry} /> : <Reading />}
      </>
    )
  return <Replayed project={project} opened={opened} replay={replay} pages={pages} />
}

function Reading() {
  return (
    <Group gap="sm" role="status" mt="xl" justify="center">
      <Loader size={20} aria-hidden />
      <Text>Reading what happened…</Text>
    </Group>
  )
}

interface Props {
  project: string
  opened: Address
  replay: Replay
  pages: ReplayPages
}

function Replayed({ project, opened, replay, pages }: Props) {
  const playing = usePlayer(replay, placeOf(opened, replay))
  const [selected, setSelected] = useState(opened.selected)
  const [panel, setPanel] = useState<Panel>(opened.panel)
  const [isForking, setForking] = useState(false)
  useToldAddress(opened, playing, selected, panel)
  const select = useCallback((id: string | null): void => {
    setSelected(id)
    if (id !== null) setPanel('why')
  }, [])
  return (
    <div className="replay-page">
      <PageHead title={`Replay of ${replay.project.name}`}>
        <CopyLink />
        <Button
          variant="default"
          leftSection={<FlaskConical size={16} aria-hidden />}
          onClick={() => setForking(true)}
        >
          What if…
        </Button>
        <RangePicker project={project} label="Another span" span={replay} />
      </PageHead>
      <Subtitle replay={replay} />
      {replay.moments.length === 0 && (
        <div className="replay-nothing">
          <NothingThen />
        </div>
      )}
      <div className="replay">
        <div className="replay-stage">
          <Stage frame={playing.frame} selected={selected} onSelect={select} />
          <PlayerBar
            replay={replay}
            playing={playing}
            loadMore={pages.loadMore}
            isLoadingMore={pages.isLoadingMore}
          />
          {pages.error && <Failed error={pages.error} onRetry={pages.retry} />}
        </div>
        <Panels
          replay={replay}
          playing={playing}
          panel={panel}
          onPanel={setPanel}
          selected={selected}
          onSelect={select}
        />
      </div>
      {isForking && (
        <WhatIf
          replay={replay}
          frame={playing.frame}
          selected={selected}
          onInstant={playing.goToInstant}
          onClose={() => setForking(false)}
        />
      )}
    </div>
  )
}

function Subtitle({ replay }: { replay: Replay }) {
  const { project, result } = replay
  return (
    <Text size="sm" c="dimmed" mb="sm">
      <Link to={`/projects/${encodeURIComponent(project.id)}`}>{project.name}</Link>
      {result !== null && (
        <>
          {' '}
          · <Link to={runPath(result)}>the result</Link> and what led to it
        </>
      )}{' '}
      · from stored records: what is shown is what happened
    </Text>
  )
}

function NothingThen() {
  return (
    <Empty title="Nothing in this span">
      <Text c="dimmed" maw={520}>
        No event came, nothing fired and no agent was at work in this span. The graph below is how the project
        was configured. Pick another span above.
      </Text>
    </Empty>
  )
}

const PANEL_WORDS: Record<Panel, string> = {
  moments: 'Moments',
  timeline: 'Timeline',
  run: 'Run',
  configuration: 'Configuration',
  why: 'Why',
}

function Panels({
  replay,
  playing,
  panel,
  onPanel,
  selected,
  onSelect,
}: {
  replay: Replay
  playing: Playing
  panel: Panel
  onPanel: (panel: Panel) => void
  selected: string | null
  onSelect: (id: string | null) => void
}) {
  const { frame } = playing
  const { moments } = replay
  return (
    <Tabs
      className="replay-panels"
      value={panel}
      onChange={(value) => onPanel(PANELS.find((one) => one === value) ?? 'moments')}
      keepMounted={false}
    >
      <Tabs.List mb="sm">
        {PANELS.map((one) => (
          <Tabs.Tab key={one} value={one} px="sm">
            {PANEL_WORDS[one]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="moments">
        <MomentsPanel moments={moments} index={frame.index} onGo={playing.goTo} />
      </Tabs.Panel>
      <Tabs.Panel value="timeline">
        <TimelinePanel replay={replay} frame={frame} />
      </Tabs.Panel>
      <Tabs.Panel value="run">
        <RunPanel frame={frame} moments={moments} />
      </Tabs.Panel>
      <Tabs.Panel value="configuration">
        <ConfigurationPanel replay={replay} frame={frame} onInstant={playing.goToInstant} />
      </Tabs.Panel>
      <Tabs.Panel value="why">
        <WhyPanel
          selected={selected}
          frame={frame}
          moments={moments}
          onGo={playing.goTo}
          onClear={() => onSelect(null)}
        />
      </Tabs.Panel>
    </Tabs>
  )
}

function CopyLink() {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <Button
      variant="default"
      leftSection={<Link2 size={16} aria-hidden />}
      onClick={() => void navigator.clipboard.writeText(window.location.href).then(() => setCopied(true))}
    >
      {isCopied ? 'Copied' : 'Copy link'}
    </Button>
  )
}

/** The address is written when one stops, not with each frame. */
const SETTLE_MS = 250

function useToldAddress(opened: Address, playing: Playing, selected: string | null, panel: Panel): void {
  const [, setQuery] = useSearchParams()
  const isHere = useStillHere()
  const { player, frame, instant } = playing
  const isAtStart = player.index < 0 && player.position === 0
  const text = writeAddress({
    subject: opened.subject,
    at: isAtStart ? null : new Date(instant).toISOString(),
    n: frame.moment?.n ?? null,
    selected,
    panel,
  }).toString()
  const [settled] = useDebouncedValue(player.isPlaying ? null : text, SETTLE_MS)
  useEffect(() => {
    if (settled !== null && isHere()) setQuery(new URLSearchParams(settled), { replace: true })
  }, [settled, setQuery, isHere])
}
