/** Buttons of the player: play, step, jump, speed. */
import { ActionIcon, Button, Group, Select, Switch } from '@mantine/core'
import { ChevronFirst, Pause, Play, SkipBack, SkipForward, StepBack, StepForward } from 'lucide-react'
import type { ReactNode } from 'react'
import { count } from '../../lib/time.ts'
import { Tooltip } from '../../parts/tooltip.tsx'
import { SPEEDS, type Stop } from '../player.ts'
import { STOPS } from '../words.ts'
import type { Playing } from './use-player.ts'

interface Props {
  playing: Playing
  /** What jumps lead to. */
  stop: Stop
  onStop: (stop: Stop) => void
  total: number
}

export function Controls({ playing, stop, onStop, total }: Props) {
  const { player, pace } = playing
  const word = STOPS.find(({ value }) => value === stop)?.label ?? 'moment'
  return (
    <Group gap="xs" wrap="wrap" align="flex-end">
      <Group gap={4} wrap="nowrap">
        <Icon
          label="To the start"
          disabled={player.index < 0 && player.position === 0}
          onClick={playing.toStart}
        >
          <ChevronFirst size={17} aria-hidden />
        </Icon>
        <Icon label="Step back" disabled={player.index < 0} onClick={() => playing.step(-1)}>
          <StepBack size={17} aria-hidden />
        </Icon>
        <Button
          size="sm"
          w={104}
          leftSection={player.isPlaying ? <Pause size={16} aria-hidden /> : <Play size={16} aria-hidden />}
          onClick={playing.toggle}
          disabled={total === 0}
        >
          {player.isPlaying ? 'Pause' : 'Play'}
        </Button>
        <Icon label="Step forward" disabled={!playing.canStepOn} onClick={() => playing.step(1)}>
          <StepForward size={17} aria-hidden />
        </Icon>
      </Group>
      <Group gap={4} wrap="nowrap" align="flex-end">
        <Icon
          label={`Previous ${word}`}
          disabled={!playing.canJump(stop, -1)}
          onClick={() => playing.jump(stop, -1)}
        >
          <SkipBack size={17} aria-hidden />
        </Icon>
        <Select
          size="xs"
          w={96}
          aria-label="Jump to"
          data={STOPS.map(({ value, label }) => ({ value, label }))}
          value={stop}
          onChange={(value) => onStop((value ?? 'firing') as Stop)}
          allowDeselect={false}
        />
        <Icon
          label={`Next ${word}`}
          disabled={!playing.canJump(stop, 1)}
          onClick={() => playing.jump(stop, 1)}
        >
          <SkipForward size={17} aria-hidden />
        </Icon>
      </Group>
      <Select
        size="xs"
        w={86}
        aria-label="Speed"
        data={SPEEDS.map((speed) => ({ value: String(speed), label: `× ${count(speed)}` }))}
        value={String(player.speed)}
        onChange={(value) => playing.setSpeed(Number(value ?? 1))}
        allowDeselect={false}
      />
      <Switch
        size="sm"
        mb={6}
        label="Skip idle time"
        checked={pace === 'compressed'}
        onChange={(event) => playing.setPace(event.currentTarget.checked ? 'compressed' : 'real')}
      />
    </Group>
  )
}

function Icon({
  label,
  disabled,
  onClick,
  children,
}: {
  label: string
  disabled: boolean
  onClick: () => void
  children: ReactNode
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size={34} aria-label={label} disabled={disabled} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  )
}
