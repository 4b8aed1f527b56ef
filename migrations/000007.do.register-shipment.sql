-- A shipment that is registered again may belong to another merchant by now: the newest values count, all of them.

CREATE OR REPLACE FUNCTION owed.register_shipment(p_id text, p_merchant_id text, p_merchant_name text, p_tracking_number text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  CASE
    WHEN coalesce(p_id, '') !~ '^[A-Za-z0-9._:-]{1,64}$' THEN
      PERFORM owed.refuse('shipment_id', 'must be 1 to 64 characters of A-Z a-z 0-9 . _ : -');
    WHEN coalesce(p_merchant_id, '') !~ '^[A-Za-z0-9._:-]{1,64}$' THEN
      PERFORM owed.refuse('merchant_id', 'must be 1 to 64 characters of A-Z a-z 0-9 . _ : -');
    WHEN coalesce(length(p_merchant_name), 0) NOT BETWEEN 1 AND 200 OR p_merchant_name ~ '[[:cntrl:]]' THEN
      PERFORM owed.refuse('merchant_name', 'must be 1 to 200 characters without control characters');
    WHEN coalesce(length(p_tracking_number), 0) NOT BETWEEN 1 AND 64 OR p_tracking_number ~ '[[:cntrl:]]' THEN
      PERFORM owed.refuse('tracking_number', 'must be 1 to 64 characters without control characters');
    ELSE
  END CASE;
  INSERT INTO owed.merchant (id, name) VALUES (p_merchant_id, p_merchant_name)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE merchant.name <> excluded.name;
  INSERT INTO owed.shipment (id, merchant_id, tracking_number) VALUES (p_id, p_merchant_id, p_tracking_number)
  ON CONFLICT (id) DO UPDATE SET tracking_number = excluded.tracking_number, merchant_id = excluded.merchant_id;
END $$;
