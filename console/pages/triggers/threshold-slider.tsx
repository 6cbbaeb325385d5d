/** The number of a threshold, to drag; the highest value there was is a mark on its way. */
import { Group, Slider, Text } from '@mantine/core'
import { useState } from 'react'
import { shortNumber, sliderMax, sliderStep } from '../../lib/backtest.ts'
import { NumberInput } from '../../parts/number-input.tsx'

interface Props {
  value: string
  set: (value: string) => void
  isWhole: boolean
  peak: number | null
}

export function ThresholdSlider({ value, set, isWhole, peak }: Props) {
  const number = Number(value) || 0
  // The scale holds still while one drags: it grows when it must, and never shrinks under the hand.
  const [max, setMax] = useState(() => sliderMax(peak, number))
  const needed = sliderMax(peak, 0)
  if (number > max || needed > max) setMax(sliderMax(peak, number))
  return (
    <div>
      <Group justify="space-between" align="flex-end" wrap="nowrap">
        <div style={{ flex: 1, minWidth: 0 }}>
          <Text size="sm" fw={600} id="threshold-label">
            Try another threshold
          </Text>
          <Slider
            mt={6}
            mb={peak === null ? 6 : 22}
            mx={6}
            thumbLabel="Threshold"
            min={Math.min(0, number)}
            max={max}
            step={sliderStep(max, isWhole)}
            value={number}
            onChange={(next) => set(String(Number(next.toFixed(6))))}
            label={shortNumber}
            marks={peak === null ? [] : [{ value: peak, label: `highest ${shortNumber(peak)}` }]}
            classNames={{ markLabel: 'peak-label' }}
          />
        </div>
        <NumberInput
          size="xs"
          w={90}
          aria-label="Threshold as a number"
          value={value === '' ? '' : number}
          onChange={(next) => set(String(next))}
        />
      </Group>
    </div>
  )
}
