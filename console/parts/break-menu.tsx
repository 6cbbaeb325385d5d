/** What of the demo can be broken or mended: loaded when somebody asks for it. */
import { Button, Menu } from '@mantine/core'
import type { Demo, DemoBreak } from '../../schemas/types.ts'

type Service = DemoBreak['service']

/** Open as it comes: it is drawn in place of the button that asked for it. */
export function BreakMenu({
  data,
  isBusy,
  onBreak,
  onMend,
}: {
  data: Demo
  isBusy: boolean
  onBreak: (service: Service) => void
  onMend: (service: Service) => void
}) {
  const broken = new Set(data.faults.map(({ service }) => service))
  return (
    <Menu position="bottom-start" defaultOpened>
      <Menu.Target>
        <Button size="compact-sm" variant="default" loading={isBusy}>
          Break something
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {(data.services as Service[]).map((service) =>
          broken.has(service) ? (
            <Menu.Item key={service} onClick={() => onMend(service)}>
              Mend {service}
            </Menu.Item>
          ) : (
            <Menu.Item key={service} onClick={() => onBreak(service)}>
              Break {service}
            </Menu.Item>
          ),
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
