-- Assets that were unpublished or archived before entries could be hidden. A run's own sale says whose entry it is: the same address
-- at another server, and the same slug in the other environment, are other assets.
UPDATE "discovery_resource" r SET "withdrawn_at" = a."updated_at"
FROM "rda" a
WHERE r."withdrawn_at" IS NULL AND r."tool" = '' AND a."status" <> 'published'
  AND a."slug" = substring(r."resource" FROM '/rda/([^/]+)/run$')
  AND EXISTS (
    SELECT FROM "sale" s
    WHERE s."subject" = a."id" AND s."product" = 'asset' AND s."environment" = a."environment" AND s."resource" = r."resource"
      AND s."network" = r."network" AND lower(s."recipient") = '0x' || encode(r."pay_to", 'hex'));
