/** A project as it was at any instant of what happened: the graph, the player, and what belongs to them. */
import { Button, Group, Loader, Tabs, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { FlaskConical, Link2 } from 'lucide-react'
import { Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { Link, useParams, useSearchParams } from 'react-router'
import type { Replay } from '../../schemas/types.ts'
import { lazyFrom } from '../lib/chunks.ts'
import { useCopy } from '../lib/copy-text.ts'
import { runPath } from '../lib/paths.ts'
import { useStillHere } from '../lib/use-still-here.ts'
import { PageHead } from '../parts/page.tsx'
import { Empty, Failed, LoadingRows } from '../parts/states.tsx'
import {
  type Address,
  isPermalink,
  openingOf,
  ordinalOf,
  PANELS,
  type Panel,
  placeOf,
  readAddress,
  writeAddress,
} from './address.ts'
import type { Stretch } from './loading.ts'
import { MomentsPanel } from './panels/moments-panel.tsx'
import { TimelinePanel } from './panels/timeline-panel.tsx'
import { PlayerBar } from './player/player-bar.tsx'
import { type Playing, usePlayer } from './player/use-player.ts'
import { RangePicker } from './range-picker.tsx'
import { Stage } from './stage.tsx'
import { type ReplayPages, useReplay } from './use-replay.ts'
import type { LoadState } from './words.ts'

/** A dialog with forms, which the replay itself has none of. */
const RunPanel = lazyFrom(() => import('./panels/run-panel.tsx'))('RunPanel')
const ConfigurationPanel = lazyFrom(() => import('./panels/configuration-panel.tsx'))('ConfigurationPanel')
const WhyPanel = lazyFrom(() => import('./panels/why-panel.tsx'))('WhyPanel')
const WhatIf = lazyFrom(() => import('./fork/what-if.tsx'))('WhatIf')

export default function ReplayPage() {
  const { id = '' } = useParams()
  const [query, setQuery] = useSearchParams()
  const address = readAddress(query, Date.now())
  const isWhole = isPermalink(query, address)
  useEffect(() => {
    // From the first on it opens the same span, however it is copied.
    if (!isWhole) setQuery((now) => writeAddress(readAddress(now, Date.now())), { replace: true })
  }, [isWhole, setQuery])
  if (!isWhole) return null
  return <OfSubject key={`${id} ${JSON.stringify(address.subject)}`} project={id} address={address} />
}

function OfSubject({ project, address }: { project: string; address: Address }) {
  // What the address said when the page was opened; afterwards the page tells the address.
  const [opened] = useState(address)
  const pages = useReplay(project, opened.subject, openingOf(opened))
  const { replay, stretch, error } = pages
  const [isForking, setForking] = useState(false)
  // One head while it loads and after: what was opened from it stays open.
  return (
    <div className="replay-page">
      <PageHead
        title={replay ? `Replay of ${replay.project.name}` : 'Replay'}
        {...(replay ? { tab: `Replay: ${replay.project.name}` } : {})}
      >
        {replay && <CopyLink />}
        {replay && (
          <Button
            variant="default"
            leftSection={<FlaskConical size={16} aria-hidden />}
            onClick={() => setForking(true)}
          >
            What if…
          </Button>
        )}
        <RangePicker
          project={project}
          label="Another span"
          {...(stretch ? { span: isoSpan(stretch.span) } : {})}
        />
      </PageHead>
      {replay && stretch ? (
        <Replayed {...{ opened, replay, stretch, pages, isForking }} onForked={() => setForking(false)} />
      ) : error ? (
        <Failed what="the replay" error={error} onRetry={pages.retry} />
      ) : (
        <Reading />
      )}
    </div>
  )
}

function Reading() {
  return (
    <Group gap="sm" role="status" mt="xl" justify="center">
      <Loader size={20} aria-hidden />
      <Text>Loading what happened</Text>
    </Group>
  )
}

interface Props {
  opened: Address
  replay: Replay
  stretch: Stretch
  pages: ReplayPages
  /** Whether *What if* is open. */
  isForking: boolean
  onForked: () => void
}

function Replayed({ opened, replay, stretch, pages, isForking, onForked }: Props) {
  const playing = usePlayer(replay, placeOf(opened, replay), stretch)
  const [selected, setSelected] = useState(opened.selected)
  const [panel, setPanel] = useState<Panel>(opened.panel)
  const state = useLoading(playing, replay, pages)
  useToldAddress(opened, playing, replay, selected, panel)
  const select = useCallback((id: string | null): void => {
    setSelected(id)
    if (id !== null) setPanel('why')
  }, [])
  const whole = useMemo(() => ({ ...replay, ...isoSpan(stretch.span) }), [replay, stretch.span])
  return (
    <>
      <Subtitle replay={replay} />
      {replay.moments.length === 0 && state === 'whole' && (
        <div className="replay-nothing">
          <NothingThen />
        </div>
      )}
      <div className="replay">
        <div className="replay-stage">
          <Stage frame={playing.frame} selected={selected} onSelect={select} />
          <PlayerBar
            replay={replay}
            stretch={stretch}
            playing={playing}
            state={state}
            onEarlier={pages.loadEarlier}
            onLater={pages.loadLater}
          />
          {pages.error && <Failed what="the replay" error={pages.error} onRetry={pages.retry} />}
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
        <Suspense>
          <WhatIf
            replay={whole}
            frame={playing.frame}
            selected={selected}
            onInstant={playing.goToInstant}
            onClose={onForked}
          />
        </Suspense>
      )}
    </>
  )
}

const isoSpan = ({ from, to }: Stretch['span']) => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
})

/** What is where one is is loaded, once one stays there; where it plays, a little ahead. */
function useLoading(playing: Playing, replay: Replay, pages: ReplayPages): LoadState {
  const { player, track, instant, isLoaded } = playing
  const isAhead =
    player.isPlaying &&
    track.loaded.to < track.length &&
    player.position + AHEAD_MS * player.speed >= track.loaded.to
  const isEmpty = replay.moments.length === 0 && !pages.isWhole
  const wanted = !isLoaded || isEmpty ? instant : isAhead ? track.instantAt(track.loaded.to) : null
  const [settled] = useDebouncedValue(wanted, SETTLE_MS)
  const { isLoading, error, loadAround, loadLater, loadEarlier, stretch } = pages
  useEffect(() => {
    // On the way elsewhere what was wanted before is there already: asked for again and again it would hold up the page.
    if (settled === null || settled !== wanted || isLoading || error) return
    if (!isEmpty) loadAround(settled)
    else if (stretch && stretch.to < stretch.span.to) loadLater()
    else loadEarlier()
  }, [settled, wanted, isLoading, error, isEmpty, loadAround, loadLater, loadEarlier, stretch])
  if (wanted !== null && !isAhead) return isLoading ? 'loading' : 'not-loaded'
  return pages.isWhole ? 'whole' : 'here'
}

/** Time of the track, at × 1, before the end of what is loaded at which more of it is read. */
const AHEAD_MS = 3_000

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
      <Suspense fallback={<LoadingRows rows={3} />}>
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
      </Suspense>
    </Tabs>
  )
}

function CopyLink() {
  const { copied, copy } = useCopy()
  return (
    <Button
      variant="default"
      leftSection={<Link2 size={16} aria-hidden />}
      onClick={() => copy(window.location.href)}
    >
      {copied ? 'Copied' : 'Copy link'}
    </Button>
  )
}

/** The address is written when one stops, not with each frame. */
const SETTLE_MS = 250

function useToldAddress(
  opened: Address,
  playing: Playing,
  { moments }: Replay,
  selected: string | null,
  panel: Panel,
): void {
  const [, setQuery] = useSearchParams()
  const isHere = useStillHere()
  const { player, frame, instant } = playing
  const text = writeAddress({
    subject: opened.subject,
    at: moments.length === 0 && opened.at === null ? null : new Date(instant).toISOString(),
    n: frame.moment && Date.parse(frame.moment.at) === instant ? ordinalOf(moments, frame.index) : null,
    // It led to its moment.
    firing: null,
    selected,
    panel,
  }).toString()
  const [settled] = useDebouncedValue(player.isPlaying ? null : text, SETTLE_MS)
  useEffect(() => {
    if (settled !== null && isHere()) setQuery(new URLSearchParams(settled), { replace: true })
  }, [settled, setQuery, isHere])
}
