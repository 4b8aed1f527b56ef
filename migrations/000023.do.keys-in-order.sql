-- Events that are recorded in one millisecond, as a batch's are, have keys in that order: where a shipment's older event has
-- the greater key, what it owes does not hold back what the newer one owes. The fraction of the millisecond stands in the
-- twelve bits that were random (RFC 9562, 6.2, method 3), as in PostgreSQL 18's uuidv7().
CREATE OR REPLACE FUNCTION owed.new_event_key() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT (left(encode(
    overlay(uuid_send(gen_random_uuid())
      PLACING substring(int8send(us / 1000) FROM 3) || substring(int4send((28672 + mod(us, 1000) * 4096 / 1000)::integer) FROM 3)
      FROM 1 FOR 8), 'hex'), 28) || '0000')::uuid
  FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us) AS at
$$;
