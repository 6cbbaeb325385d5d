/** Here the demo is broken, mended and removed, by whoever may: a key that only reads is told that there is one. */
import { Button, Group, Menu, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Demo, DemoBreak } from '../../schemas/types.ts'
import { api } from '../client.ts'
import { demo } from '../demo-client.ts'
import { useChange } from '../lib/use-change.ts'

/** @param data the demo as it is, loaded */
export function DemoSwitch({ data }: { data: Demo }) {
  const me = useQuery({ queryKey: ['whoami'], queryFn: api.whoami, staleTime: 60_000 })
  if (!me.data) return <div className="demo-bar-room" />
  return (
    <Group component="section" aria-label="Demo" gap="sm" mb="md" className="demo-bar">
      <Text size="sm" fw={600} style={{ whiteSpace: 'nowrap' }}>
        Demo data
      </Text>
      {me.data.scopes.includes('admin') && <Acts data={data} />}
    </Group>
  )
}

function Acts({ data }: { data: Demo }) {
  const queries = useQueryClient()
  const again = () => void queries.invalidateQueries()
  const breaking = useChange(demo.break, {
    failed: (service) => `Couldn’t break ${service}`,
    said: (_demo, service) => `${service} is broken. An incident opens within seconds`,
    onDone: again,
  })
  const mending = useChange(demo.mend, {
    failed: (service) => `Couldn’t mend ${service}`,
    said: (_demo, service) => `${service} mended`,
    onDone: again,
  })
  const removing = useChange(() => demo.remove(), {
    failed: 'Couldn’t remove the demo',
    said: () => 'Demo removed',
    onDone: again,
  })
  const broken = new Set(data.faults.map(({ service }) => service))
  const isBusy = breaking.isPending || mending.isPending || removing.isPending
  return (
    <>
      <Menu position="bottom-start">
        <Menu.Target>
          <Button size="compact-sm" variant="default" loading={breaking.isPending || mending.isPending}>
            Break something
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {(data.services as DemoBreak['service'][]).map((service) =>
            broken.has(service) ? (
              <Menu.Item key={service} onClick={() => mending.mutate(service)}>
                Mend {service}
              </Menu.Item>
            ) : (
              <Menu.Item key={service} onClick={() => breaking.mutate(service)}>
                Break {service}
              </Menu.Item>
            ),
          )}
        </Menu.Dropdown>
      </Menu>
      <Button
        size="compact-sm"
        variant="default"
        loading={removing.isPending}
        disabled={isBusy}
        onClick={() => removing.mutate(undefined)}
      >
        Remove demo
      </Button>
    </>
  )
}
