/** What is done to the incidents that are selected; it stands at the head of their list. */
import { Button, Kbd, Menu } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { ChevronDown } from 'lucide-react'
import { useState } from 'react'
import type { Incident } from '../../schemas/types.ts'
import { SELECTED_MAX } from '../incident-client.ts'
import { actOnSelected, type ManyAct } from '../lib/incident-acts-many.ts'
import { notifications } from '../lib/notices.ts'
import { usePageKeys } from '../lib/page-keys.ts'
import { snoozeTimes } from '../lib/snooze.ts'
import { count } from '../lib/time.ts'

interface Props {
  selected: readonly Incident[]
  isHandled: boolean
  /** Selects what the list goes on with, too; null: all that match are selected. */
  onAll: (() => Promise<void>) | null
  /** After an act on these. */
  onActed: (rows: readonly Incident[]) => void
  onClear: () => void
}

export function SelectionBar({ selected, isHandled, onAll, onActed, onClear }: Props) {
  const queries = useQueryClient()
  const [busy, setBusy] = useState<'all' | ManyAct['action'] | null>(null)
  const keepBusy = async (what: typeof busy, work: () => Promise<void>): Promise<void> => {
    setBusy(what)
    try {
      await work()
    } catch (error) {
      notifications.show({
        ...{ color: 'red', title: 'Couldn’t read the incidents', message: (error as Error).message },
      })
    }
    setBusy(null)
  }
  const act = (given: ManyAct) =>
    void keepBusy(given.action, async () => {
      await actOnSelected(queries, selected, given)
      onActed(selected)
    })
  usePageKeys([
    ['a', () => !isHandled && busy === null && act({ action: 'acknowledge' })],
    ['e', () => !isHandled && busy === null && act({ action: 'handle' })],
  ])
  const button = { size: 'xs', variant: 'default' } as const
  const states = { disabled: busy !== null }
  return (
    <div className="selection-bar">
      <strong role="status">{count(selected.length)} selected</strong>
      {onAll && selected.length < SELECTED_MAX && (
        <Button {...button} {...states} loading={busy === 'all'} onClick={() => void keepBusy('all', onAll)}>
          Select all that match
        </Button>
      )}
      {isHandled ? (
        <Button {...button} {...states} loading={busy === 'reopen'} onClick={() => act({ action: 'reopen' })}>
          Reopen
        </Button>
      ) : (
        <>
          <Button
            {...button}
            {...states}
            variant="filled"
            loading={busy === 'acknowledge'}
            rightSection={<Kbd size="xs">A</Kbd>}
            onClick={() => act({ action: 'acknowledge' })}
          >
            Acknowledge
          </Button>
          <Menu position="bottom-start" withinPortal>
            <Menu.Target>
              <Button
                {...button}
                {...states}
                loading={busy === 'snooze'}
                rightSection={<ChevronDown size={13} aria-hidden />}
              >
                Snooze
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {snoozeTimes(new Date()).map(({ word, until }) => (
                <Menu.Item key={word} onClick={() => act({ action: 'snooze', until })}>
                  {word}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
          <Button
            {...button}
            {...states}
            loading={busy === 'handle'}
            rightSection={<Kbd size="xs">E</Kbd>}
            onClick={() => act({ action: 'handle' })}
          >
            Mark handled
          </Button>
        </>
      )}
      <Button {...button} {...states} variant="subtle" onClick={onClear}>
        Clear
      </Button>
    </div>
  )
}
