// Takes firings of svc and checks their signatures. Run: node examples/receiver.ts 9000 whsec_…
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const [port = '9000', secret = ''] = process.argv.slice(2)
const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
const server = createServer(async (request, response) => {
  const body = Buffer.concat(await Array.fromAsync(request)).toString()
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures = '' } = request.headers
  const own = Buffer.from(`v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`)
  const isGenuine = `${signatures}`.split(' ').some((one) => {
    const given = Buffer.from(one)
    return given.length === own.length && timingSafeEqual(given, own)
  })
  if (!isGenuine || Math.abs(Date.now() / 1000 - Number(at)) > 300) return response.writeHead(401).end()
  console.log(JSON.parse(body).reason) // The same id may come again: what it does must be safe to repeat.
  return response.writeHead(204).end()
})
server.listen(Number(port), '127.0.0.1', () => console.log(`listening ${JSON.stringify(server.address())}`))
