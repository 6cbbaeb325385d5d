/**
 * Which MCP clients were at work lately, as `svc mcp` tells it. In memory alone: it says who is there
 * now, not who was. A client says its own name; whoever holds a credential may say any.
 */
import type { McpClient, McpClientSeen } from '../../schemas/types.ts'

const CLIENTS_MAX = 200

export class McpClients {
  /** By credential and name, the one seen longest ago first. */
  private readonly seen = new Map<string, McpClient>()

  /** @param at epoch ms */
  note(
    of: { id: string; name: string },
    { name, version, transport, call }: McpClientSeen,
    at: number,
  ): void {
    const key = JSON.stringify([of.id, name, transport])
    this.seen.delete(key)
    this.seen.set(key, {
      credential: of.id,
      credential_name: of.name,
      name,
      version,
      transport,
      call,
      at: new Date(at).toISOString(),
    })
    const [oldest] = this.seen.keys()
    if (this.seen.size > CLIENTS_MAX) this.seen.delete(oldest!)
  }

  /** Newest first. */
  all(): McpClient[] {
    return [...this.seen.values()].reverse()
  }
}
