-- Who sent the money of an order that is paid by plain transfers, as far as the chain tells.
ALTER TABLE "payment_address"
    -- The block from which transfers are searched; null where no RPC answered when the address was made.
    ADD COLUMN "from_block" BIGINT,
    -- In the order in which they are found.
    ADD COLUMN "senders" BYTEA[] NOT NULL DEFAULT '{}';

CREATE FUNCTION transfer_senders(payer text) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN payer ~ '^0x[0-9a-f]{40}$' THEN coalesce((
    SELECT array_agg('0x' || encode(s.sender, 'hex') ORDER BY s.place)
    FROM payment_address a CROSS JOIN LATERAL unnest(a.senders) WITH ORDINALITY AS s (sender, place)
    WHERE a.address = decode(substr(payer, 3), 'hex')
  ), '{}') ELSE '{}' END
$$;
