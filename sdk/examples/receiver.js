// A webhook receiver that survives duplicates and a crash: node receiver.js
import { DatabaseSync } from 'node:sqlite'
import { receiveWebhooks } from '@jeton/sdk/express'
import express from 'express'

const database = new DatabaseSync(process.env.DATABASE ?? 'receiver.db')
database.exec(`
  pragma busy_timeout = 5000;
  create table if not exists deliveries (id text primary key, lease_until integer, done integer not null default 0);
`)

/** Deliveries that were seen, in a table that all processes of the receiver share. */
const seen = {
  async begin(id, leaseMs) {
    const now = Date.now()
    const taken = database
      .prepare(
        `insert into deliveries (id, lease_until) values (?, ?)
         on conflict (id) do update set lease_until = excluded.lease_until where done = 0 and lease_until < ?`,
      )
      .run(id, now + leaseMs, now)
    if (taken.changes === 1) return 'new'
    return database.prepare('select done from deliveries where id = ?').get(id)?.done === 1 ? 'done' : 'busy'
  },
  async done(id) {
    database.prepare('update deliveries set done = 1 where id = ?').run(id)
  },
  async release(id) {
    database.prepare('delete from deliveries where id = ? and done = 0').run(id)
  },
}

/** Sends the reward. The warehouse ignores an order number that it knows. */
async function ship(event) {
  const response = await fetch(process.env.WAREHOUSE_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ order: event.data.reward_redemption.id, product: event.data.reward.name }),
  })
  if (!response.ok) throw new Error(`the warehouse answered ${response.status}`)
}

const app = express()
// Before express.json(), because the signature covers the raw body.
app.post(
  '/hook',
  receiveWebhooks({
    secret: process.env.WEBHOOK_SECRET.split(','),
    seen,
    on: { 'customer.reward_redemptions.completed': ship },
    onError: (error) => console.error(error),
    leaseMs: Number(process.env.LEASE_MS ?? 50_000),
  }),
)

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
