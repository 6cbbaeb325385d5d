/** Asks on which verdict an agent takes over, before two agents are connected. */
import { Button, Group, Modal, Radio, Stack } from '@mantine/core'
import { useState } from 'react'
import { nameOf } from '../draft/ids.ts'
import type { Handing } from './state/use-handing.ts'

export function VerdictDialog({ handing }: { handing: Handing }) {
  const { asked, cancel } = handing
  return (
    <Modal opened={asked !== null} onClose={cancel} title="Hand over on a verdict" centered>
      {asked && <Verdicts from={nameOf(asked.from)} to={nameOf(asked.to)} handing={handing} />}
    </Modal>
  )
}

function Verdicts({ from, to, handing }: { from: string; to: string; handing: Handing }) {
  const [verdict, setVerdict] = useState(handing.verdicts[0] ?? '')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        handing.choose(verdict)
      }}
    >
      <Stack>
        <Radio.Group
          label={`${to} takes over when ${from} concludes with`}
          value={verdict}
          onChange={setVerdict}
          style={{ overflowWrap: 'anywhere' }}
        >
          <Stack gap="xs" mt="xs">
            {handing.verdicts.map((word, n) => (
              <Radio key={word} value={word} label={word} {...(n === 0 && { 'data-autofocus': true })} />
            ))}
          </Stack>
        </Radio.Group>
        <Group justify="flex-end">
          <Button variant="default" onClick={handing.cancel}>
            Cancel
          </Button>
          <Button type="submit">Connect</Button>
        </Group>
      </Stack>
    </form>
  )
}
